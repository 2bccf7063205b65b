# SPDX-License-Identifier: Apache-2.0
"""Following the events of a stack."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from heatconv.cli.base import style_of
from heatconv.client.http import Client, ClientError, Json


class EventTail:
    """The events of a stack that were not read yet, oldest first."""

    def __init__(self, client: Client, stack: str, *, from_now: bool = False) -> None:
        self._client = client
        self._stack = stack
        self._seen: set[str] = set()
        self._marker: str | None = None
        if from_now:
            for event in client.list_events(stack, {"limit": 1}):
                self._mark(event)

    def read(self) -> list[Json]:
        """Return what has happened since the last call."""
        try:
            events = self._list()
        except ClientError as error:
            if error.status != 404 or self._marker is None:
                raise
            # Old events are dropped in time, the last one read may be among them.
            self._marker = None
            events = self._list()
        fresh = [event for event in events if event["id"] not in self._seen]
        for event in fresh:
            self._mark(event)
        return fresh

    def _list(self) -> list[Json]:
        query: dict[str, Any] = {"sort_dir": "asc"}
        if self._marker is not None:
            query["marker"] = self._marker
        return self._client.list_events(self._stack, query)

    def _mark(self, event: Json) -> None:
        self._seen.add(event["id"])
        self._marker = event["id"]


def line(event: Json) -> Text:
    """Return an event as one line of text."""
    state = event["resource_status"]
    return Text.assemble(
        f"{event['event_time']}  ",
        (f"{event['resource_name']}", "bold"),
        "  ",
        (state, style_of(state)),
        f"  {event['resource_status_reason']}",
    )
