# SPDX-License-Identifier: Apache-2.0
"""Many pages that follow a stack each, as ``heatconv/api/ui`` does, in one cheap process.

``python -m tests.perf.followers ENDPOINT HOW COUNT STACK [STACK ...]`` opens COUNT pages, one after the
other on the stacks.  HOW is ``idle`` (connections on which nothing is asked), ``follow`` (the long poll of
the changes), or ``explain`` (as well the explanation, which a page asks for after a change).  When all are
open, and after each line of its input, it prints a line of JSON: what was received and worked up to then.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

WAIT = 25  #: seconds that a page asks to wait
BUSY = 2.0  #: seconds: what took longer was held
CALM = 1.5  #: seconds at least until a page asks for an explanation
SHARE = 4  #: times as long as the last one took
BEGINNERS = 50  #: pages that are opened in a second
NICEST = 19

Json = dict[str, Any]


class Seen:
    """What all pages have received."""

    def __init__(self, count: int) -> None:
        self.answers: list[tuple[str, int, float]] = []  #: of what, bytes, and when
        self.ends: dict[str, list[float]] = {}  #: when the pages saw an update of a stack end, by event
        self.all_open = asyncio.Event()
        self._missing = count
        self._read: dict[bytes, Json] = {}

    def note_open(self) -> None:
        """Note that one more page is open."""
        self._missing -= 1
        if not self._missing:
            self.all_open.set()

    def read(self, body: bytes) -> Json:
        """Return what an answer says; many are the same."""
        if body not in self._read:
            if len(self._read) > 100:
                self._read.clear()
            self._read[body] = json.loads(body)
        return self._read[body]

    def take(self) -> Json:
        """Return what came since this was asked last, and what this process has worked in all."""
        answers, self.answers = self.answers, []
        ends, self.ends = self.ends, {}
        spent = os.times()
        sizes: dict[str, list[int]] = {}
        for what, size, _at in answers:
            sizes.setdefault(what, []).append(size)
        return {
            "answers": {what: len(each) for what, each in sizes.items()},
            "median_bytes": {what: statistics.median(each) for what, each in sizes.items()},
            "ends": ends,
            "cpu": spent.user + spent.system,
        }


class Page:
    """One page, on one stack."""

    def __init__(self, endpoint: str, stack: str, seen: Seen) -> None:
        parts = urlsplit(endpoint)
        self._host, self._port, self._base = parts.hostname, parts.port, f"{parts.path}{stack}"
        self._seen = seen
        self._events: set[str] = set()
        self._changed = asyncio.Event()

    async def stay(self) -> None:
        """Connect, and ask for nothing."""
        reader, _writer = await asyncio.open_connection(self._host, self._port)
        self._seen.note_open()
        await reader.read()

    async def follow(self) -> None:
        """Follow the stack, with the pauses of the page."""
        reader, writer = await asyncio.open_connection(self._host, self._port)
        _size, found = await self._get(reader, writer, "changes", {})
        cursor = found["changes"]["cursor"]
        self._seen.note_open()
        while True:
            began = time.monotonic()
            size, found = await self._get(reader, writer, "changes", {"since": cursor, "wait": WAIT})
            news = bool(found) and bool(found["changes"]["events"] or found["changes"]["more"])
            if found:
                cursor = found["changes"]["cursor"]
            self._seen.answers.append(("news" if news else "nothing", size, time.monotonic()))
            if news:
                self._note(found["changes"])
            took = time.monotonic() - began
            if not news and took < WAIT / 2:
                await asyncio.sleep(1)
            elif news and not found["changes"]["more"]:
                await asyncio.sleep(took if took < BUSY else 0)

    async def explain(self) -> None:
        """Ask for an explanation after what has changed, calmly."""
        reader, writer = await asyncio.open_connection(self._host, self._port)
        last = 0.0
        while True:
            await self._changed.wait()
            await asyncio.sleep(max(CALM, SHARE * last))
            self._changed.clear()
            began = time.monotonic()
            size, _found = await self._get(reader, writer, "explanation", {})
            last = time.monotonic() - began
            self._seen.answers.append(("explanation", size, time.monotonic()))

    def _note(self, changes: Mapping[str, Any]) -> None:
        new = {each["id"]: each for each in changes["events"] if each["id"] not in self._events}
        self._events |= set(new)
        for name, event in new.items():
            self._changed.set()
            is_of_stack = event["resource_name"] == changes["stack"]["stack_name"]
            if is_of_stack and event["resource_status"] == "UPDATE_COMPLETE":
                self._seen.ends.setdefault(name, []).append(time.monotonic())

    async def _get(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, what: str, query: Mapping[str, Any]
    ) -> tuple[int, Json]:
        """Return how many bytes an answer had, and what it says; nothing, if it is 304."""
        asked = f"?{urlencode(query)}" if query else ""
        writer.write(f"GET {self._base}/{what}{asked} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line[:15].lower() == b"content-length:"), 0
        )
        body = await reader.readexactly(length)
        if status >= 400:
            raise RuntimeError(f"{what}: {status} {body[:300]!r}")
        return len(head) + length, self._seen.read(body) if body else {}


async def run(endpoint: str, how: str, count: int, stacks: list[str]) -> None:
    """Open the pages, and answer whoever asks until there is nobody."""
    seen = Seen(count)
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with asyncio.TaskGroup() as tasks:  # which ends all when one of them fails
        for number in range(count):
            page = Page(endpoint, stacks[number % len(stacks)], seen)
            if how == "idle":
                tasks.create_task(page.stay())
            else:
                tasks.create_task(page.follow())
            if how == "explain":
                tasks.create_task(page.explain())
            await asyncio.sleep(1 / BEGINNERS)
        await seen.all_open.wait()
        print(json.dumps(seen.take()), flush=True)
        while await lines.readline():
            print(json.dumps(seen.take()), flush=True)
        os._exit(0)  # whatever the pages wait for


def main() -> None:
    """Open pages, kindly: they take what the daemons leave."""
    os.nice(NICEST)
    endpoint, how, count, *stacks = sys.argv[1:]
    asyncio.run(run(endpoint, how, int(count), stacks))


if __name__ == "__main__":
    main()
