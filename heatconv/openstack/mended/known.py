# SPDX-License-Identifier: Apache-2.0
"""Finders of clients: an id of which a service has just told is not asked for again.

Heat's plugins ask for every image, flavor or network that a property names, when it is
validated and whenever it is used.  What an id stands for never changes, and if it
is gone since, the call that it is used in says so.  A name is asked for each time: it
may stand for something else by then.
"""

from __future__ import annotations

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
        known = self.context.login.known_ids
        if (of_kind, value) in known:
            return value
        found = plain(self, project_id, *asked)
        if found == value:
            known.add((of_kind, value))
        return found

    setattr(plugin, finder, find)
