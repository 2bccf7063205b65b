# SPDX-License-Identifier: Apache-2.0
"""Following the events of a stack."""

from __future__ import annotations

import time
from typing import Any

from rich.text import Text

from heatconv.cli.base import style_of
from heatconv.client.http import Client, ClientError, Json

WAIT = 30  #: seconds that the service may wait: less than proxies do, and than a token is good for
PROMPT = 1.0  #: a service that says sooner that nothing has happened has not waited


class EventTail:
    """The events of a stack that were not read yet, oldest first."""

    def __init__(self, client: Client, stack: str, *, from_now: bool = False) -> None:
        self._client = client
        self._stack = stack
        self._seen: set[str] = set()
        self._marker: str | None = None
        self._place: str | None = None  #: the stack's canonical URL, once it was asked for
        self._has_tags = False  #: whether the service tags its answers: without that it does not wait
        self._no_more: str | None = None  #: the tag of a list without events, once there was one
        self._next_look = 0.0
        if from_now:
            for event in client.list_events(stack, {"limit": 1}):
                self._mark(event)

    def read(self, wait: float = 0) -> list[Json]:
        """Return what has happened since the last call; the service may wait for it for some seconds."""
        try:
            events = self._list(wait)
        except ClientError as error:
            if error.status != 404 or self._marker is None:
                raise
            # Old events are dropped in time, the last one read may be among them.
            self._marker = None
            events = self._list(0)
        fresh = [event for event in events if event["id"] not in self._seen]
        for event in fresh:
            self._mark(event)
        return fresh

    def follow(self, poll: float) -> list[Json]:
        """Return what has happened since the last call, soon after it has; maybe nothing, after a while.

        A service that does not wait is asked every ``poll`` seconds.
        """
        time.sleep(max(0.0, self._next_look - time.monotonic()))
        began, may_wait = time.monotonic(), self._no_more is not None
        events = self.read(WAIT)
        has_not_waited = may_wait and not events and time.monotonic() - began < PROMPT
        self._next_look = began + poll if has_not_waited or not self._has_tags else 0.0
        return events

    def _list(self, wait: float) -> list[Json]:
        query: dict[str, Any] = {"sort_dir": "asc"}
        if self._marker is not None:
            query["marker"] = self._marker
        if self._place is None:
            self._place = self._client.locate(self._stack)
        look = self._client.look_at_events(
            self._place, query, known=self._no_more if wait else None, wait=wait
        )
        self._has_tags = look.tag is not None
        if look.answer == []:
            self._no_more = look.tag
        return look.answer or []

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
