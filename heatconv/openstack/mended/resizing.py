# SPDX-License-Identifier: Apache-2.0
"""Nova's client: to ask once more for a resize, or to confirm it once more, is no error.

A worker that died between the call and its note leaves it to the next one to ask for
what is under way, or done.  Heat's takes Nova's refusal, and a server that
is active already, for failures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

UNDER_WAY = ("RESIZE", "VERIFY_RESIZE")
CONFIRMED = "ACTIVE"


def goes_by_what_it_finds(plugin: Any) -> None:
    """Let the calls of a plugin's that resize a server look at it first."""
    plugin.resize = _unless(plugin.resize, UNDER_WAY)
    plugin.verify_resize = _unless(plugin.verify_resize, (CONFIRMED,))


def _unless(call: Callable[..., Any], done: tuple[str, ...]) -> Callable[..., Any]:
    """Return a call for a server that is not made if its status tells that it was."""

    def looking(self: Any, server_id: str, *args: Any, **kwargs: Any) -> Any:
        server = self.fetch_server(server_id)
        return (server is not None and self.get_status(server) in done) or call(
            self, server_id, *args, **kwargs
        )

    return looking
