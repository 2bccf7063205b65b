# SPDX-License-Identifier: Apache-2.0
"""Finders of clients: what a service has just told of an id is not asked for again.

Heat's plugins ask for every image, flavor or network that a property names, when it is
validated and whenever it is used.  What an id stands for never changes, and if it
is gone since, the call that it is used in says so.  A name is asked for each time: it
may stand for something else by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def remembers_ids(plugin: Any, finder: str, kind: str | None = None) -> None:
    """Let a method of a plugin's that finds ids by names ask for each id once in a while only.

    Args:
        finder: the name of the method, whose arguments are a project, then what kind of
            thing is looked for, then its name or id.
        kind: of what it finds, if it is not told.
    """
    plain = getattr(plugin, finder)

    def find(self: Any, project_id: str, *asked: Any) -> Any:
        of_kind, value = (kind, asked[0]) if kind is not None else asked[:2]
        known = self.context.login.known
        if known.get(("id", of_kind, value)) is not None:
            return value
        found = plain(self, project_id, *asked)
        if found == value:
            known.note_id(of_kind, value)
        return found

    setattr(plugin, finder, find)


def remembers_what_it_got(plugin: Any, getter: str, stays: Callable[[Any], bool]) -> None:
    """Let a method of a plugin's that gets a thing by its name or id get each by its id once in a while only.

    Args:
        getter: the name of the method.
        stays: whether what is told of a thing holds for a while: not of one that is being made.
    """
    plain = getattr(plugin, getter)

    def get(self: Any, value: str) -> Any:
        known = self.context.login.known
        thing = known.get((getter, value))
        if thing is None:
            thing = plain(self, value)
            if thing.id == value and stays(thing):
                known.keep((getter, value), thing)
        return thing

    setattr(plugin, getter, get)
