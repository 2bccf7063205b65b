# SPDX-License-Identifier: Apache-2.0
"""Following the events of a stack."""

from __future__ import annotations

import time

from rich.text import Text

from heatconv.cli.base import style_of
from heatconv.client.http import Client, ClientError, Json

WAIT = 30  #: seconds that the service may wait: less than proxies do, and than a token is good for
PROMPT = 1.0  #: a service that says sooner that nothing has happened has not waited


class EventTail:
    """The events of a stack that were not read yet, oldest first.

    A service that tells what is new is asked by a cursor, which no event slips past.  Another is asked for
    what comes after the last one that was read.
    """

    def __init__(self, client: Client, stack: str, *, from_now: bool = False) -> None:
        self._client = client
        self._stack = stack
        self._seen: set[str] = set()
        self._has_begun = False
        self._place = ""  #: the stack's canonical URL, once it was asked for
        self._cursor: str | None = None  #: None: the service has none
        self._marker: str | None = None
        self._next_look = 0.0
        if from_now:
            self._begin()
            if self._cursor is None:
                self._mark(client.list_events(stack, {"limit": 1}))

    def read(self, wait: float = 0) -> list[Json]:
        """Return what has happened since the last call; the service may wait for it for some seconds."""
        if not self._has_begun:
            self._begin()  # before the list: what happens in between is in both
            return self._mark(self._listed())
        return self._mark(self._changed(wait) if self._cursor else self._listed())

    def follow(self, poll: float) -> list[Json]:
        """Return what has happened since the last call, soon after it has; maybe nothing, after a while.

        A service that does not wait is asked every ``poll`` seconds.
        """
        time.sleep(max(0.0, self._next_look - time.monotonic()))
        began = time.monotonic()
        events = self.read(WAIT)
        has_not_waited = self._cursor is None or (not events and time.monotonic() - began < PROMPT)
        self._next_look = began + poll if has_not_waited else 0.0
        return events

    def _begin(self) -> None:
        self._has_begun = True
        self._place = self._client.locate(self._stack)
        found = self._client.list_changes(self._place)
        self._cursor = None if found is None else found["cursor"]

    def _changed(self, wait: float) -> list[Json]:
        """Return what is new, however much that is."""
        events: list[Json] = []
        has_more = True
        while has_more:
            found = self._client.list_changes(self._place, self._cursor, wait=0 if events else wait)
            if found is None or found["missed"]:
                # Old events are dropped in time. Or the stack is gone: then that is what a list says.
                self._cursor, self._marker = None if found is None else found["cursor"], None
                return self._listed()
            self._cursor, has_more = found["cursor"], found["more"]
            events += found["events"]
        return events

    def _listed(self) -> list[Json]:
        query = {"sort_dir": "asc", **({"marker": self._marker} if self._marker else {})}
        try:
            return self._client.list_events(self._stack, query)
        except ClientError as error:
            if error.status != 404 or self._marker is None:
                raise
        # Old events are dropped in time, the last one read may be among them.
        self._marker = None
        return self._listed()

    def _mark(self, events: list[Json]) -> list[Json]:
        """Return those events that were not read yet; from now on they were."""
        fresh = [event for event in events if event["id"] not in self._seen]
        for event in fresh:
            self._seen.add(event["id"])
            self._marker = event["id"]
        return fresh


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
