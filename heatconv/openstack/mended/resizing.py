# SPDX-License-Identifier: Apache-2.0
"""Nova's client: to ask once more for a resize, or to confirm it once more, is no error.

A worker that died between the call and its note leaves it to the next one to ask for
what is under way, or done.  Heat's takes Nova's refusal, and a server that
is active already, for failures.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from heatconv.resources.clients.status import http_status

RESIZED = "VERIFY_RESIZE"
UNDER_WAY = ("RESIZE", RESIZED)
CONFIRMED = "ACTIVE"


def goes_by_what_it_finds(plugin: Any) -> None:
    """Let the calls of a plugin's that resize a server look at it first."""
    plugin.resize = _unless(plugin.resize, UNDER_WAY)
    plugin.verify_resize = _unless(_once(plugin.verify_resize), (CONFIRMED,))


def _once(confirm: Callable[..., Any]) -> Callable[..., Any]:
    """Return a confirmation that is no error while another one is under way, or was carried out since."""

    def confirming(self: Any, server_id: str) -> Any:
        try:
            return confirm(self, server_id)
        except Exception as error:
            server = self.fetch_server(server_id)
            status = None if server is None else self.get_status(server)
            if status == CONFIRMED or (status == RESIZED and http_status(error) == HTTPStatus.BAD_REQUEST):
                return True
            raise

    return confirming


def _unless(call: Callable[..., Any], done: tuple[str, ...]) -> Callable[..., Any]:
    """Return a call for a server that is not made if its status tells that it was."""

    def looking(self: Any, server_id: str, *args: Any, **kwargs: Any) -> Any:
        server = self.fetch_server(server_id)
        return (server is not None and self.get_status(server) in done) or call(
            self, server_id, *args, **kwargs
        )

    return looking
