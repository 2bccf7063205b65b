# SPDX-License-Identifier: Apache-2.0
"""Finders of clients: an id of which a service has just told is not asked for again.

Heat's plugins ask for every image, flavor or network that a property names, when it is
validated and whenever it is used.  What an id stands for never changes, and if it
is gone since, the call that it is used in says so.  A name is asked for each time: it
may stand for something else by then.
"""

from __future__ import annotations

from typing import Any


def remembers_ids(plugin: Any, finder: str) -> None:
    """Let a method of a plugin's that finds ids by names ask for each id once in a while only.

    Args:
        finder: the name of the method; what it returns is one of its arguments if that is an id.
    """
    plain = getattr(plugin, finder)

    def find(self: Any, *asked: Any) -> Any:
        known, ids = (plugin, *asked), self.context.login.known_ids
        for each in asked:
            if (known, each) in ids:
                return each
        found = plain(self, *asked)
        if found in asked:
            ids.add((known, found))
        return found

    setattr(plugin, finder, find)
