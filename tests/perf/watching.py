# SPDX-License-Identifier: Apache-2.0
"""Many clients that watch a stack each: ``python -m tests.perf.watching --database URL --transport URL``.

Each of ``--clients`` (200) has a stack of five resources and looks at it; every ``--every`` (1) seconds one
of the stacks is updated so that all five change.  By turns, for ``--seconds`` (20) each, the clients do
nothing (``none``), ask every ``--interval`` (1) seconds (``poll``), do so with the tag of what they have
(``tag``), and wait with that tag (``wait``).  The CPU time is that of each second; ``seen_seconds`` is how
long after an update was accepted its stack's client saw that it is complete.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import socket
import statistics
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.perf import report
from tests.perf.deployment import Measured
from tests.perf.machine import facts
from tests.perf.measuring import cpu_of
from tests.perf.small import five

HOW = ("none", "poll", "tag", "wait")
SETTLED = 2.0  #: seconds from when clients have begun to when anything counts
BEGINNERS = 100  #: of them can begin in a second
LONGEST = 60  #: seconds that a client asks to wait
MAKERS = 8  #: stacks that are made at a time


class Connection:
    """A client's connection to the API, which stays open."""

    def __init__(self, endpoint: str) -> None:
        parts = urlsplit(endpoint)
        self._http = http.client.HTTPConnection(parts.netloc, timeout=2 * LONGEST)
        self._base = parts.path

    def close(self) -> None:
        """Leave, whatever is waited for."""
        if self._http.sock is not None:
            with suppress(OSError):
                self._http.sock.shutdown(socket.SHUT_RDWR)

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, tag: str | None = None
    ) -> tuple[Any, str | None]:
        """Return the answer to a request, None if it is 304 or has nothing in it, and its tag."""
        headers = {"Content-Type": "application/json"} | ({"If-None-Match": tag} if tag else {})
        text = None if body is None else json.dumps(body)
        self._http.request(method, self._base + path, text, headers)
        answer = self._http.getresponse()
        content = answer.read()
        if answer.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return (json.loads(content) if content else None), answer.headers["ETag"]


class Stack:
    """A stack of five, when it was last changed, and how long its changes took to be seen."""

    def __init__(self, connection: Connection, name: str) -> None:
        made, _ = connection.send("POST", "/stacks", {"stack_name": name, "template": five("x")})
        self.path = f"/stacks/{name}/{made['stack']['id']}"
        self.changed_at: float | None = None
        self.seen: list[float] = []
        self._shown: str | None = None  #: when it was updated, as far as its client knows
        self._before: str | None = None

    def is_complete(self, connection: Connection) -> bool:
        """Tell whether it is.

        Raises:
            RuntimeError: it never will be.
        """
        found, _ = connection.send("GET", self.path)
        status = str(found["stack"]["stack_status"])
        if status.endswith("_FAILED"):
            raise RuntimeError(f"{self.path} is {status}")
        return status.endswith("_COMPLETE")

    def change(self, connection: Connection, value: str) -> None:
        """Have all five changed."""
        self._before = self._shown
        connection.send("PUT", self.path, {"template": five(value)})
        self.changed_at = time.monotonic()

    def note(self, shown: Mapping[str, Any]) -> None:
        """Note what a client sees."""
        self._shown = shown["updated_time"]
        is_new = self.changed_at is not None and self._shown != self._before
        if is_new and shown["stack_status"] == "UPDATE_COMPLETE":
            self.seen.append(time.monotonic() - (self.changed_at or 0))
            self.changed_at = None


class Watcher(threading.Thread):
    """A client that looks at a stack until it is to end."""

    def __init__(self, endpoint: str, stack: Stack, how: str, interval: float, late: float) -> None:
        super().__init__(daemon=True)
        self._connection = Connection(endpoint)
        self._stack = stack
        self._how = how
        self._interval = interval
        self._late = late
        self.ended = threading.Event()
        self.looks = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        """Look."""
        self.ended.wait(self._late)  # not all at the same moment
        try:
            self._watch()
        except Exception as error:  # noqa: BLE001 - whatever it was makes the figure void, and is printed
            self.failure = None if self.ended.is_set() else error

    def stop(self) -> None:
        """Look no more."""
        self.ended.set()
        self._connection.close()
        self.join()

    def _watch(self) -> None:
        tag: str | None = None
        while not self.ended.is_set():
            known = tag if self._how != "poll" else None
            query = f"?wait={LONGEST}" if self._how == "wait" else ""
            found, tag = self._connection.send("GET", self._stack.path + query, tag=known)
            self.looks += 1
            if found is not None:
                self._stack.note(found["stack"])
            if self._how != "wait":
                self.ended.wait(self._interval)


def make(endpoint: str, number: int) -> list[Stack]:
    """Return so many new stacks, complete."""
    stacks: list[Stack] = []
    names = deque(f"watched-{time.time_ns()}-{each}" for each in range(number))

    def run() -> None:
        connection = Connection(endpoint)
        while names:
            stack = Stack(connection, names.popleft())
            while not stack.is_complete(connection):
                time.sleep(0.1)
            stacks.append(stack)

    with ThreadPoolExecutor(MAKERS) as pool:
        for made in [pool.submit(run) for _ in range(MAKERS)]:
            made.result()
    return stacks


def measure(
    daemons: Measured, stacks: list[Stack], how: str, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Let clients look at stacks in one way for a while; return what that took."""
    watchers = [
        Watcher(daemons.endpoint, stack, how, arguments.interval, arguments.interval * number / len(stacks))
        for number, stack in enumerate(stacks)
        if how != "none"
    ]
    for stack in stacks:
        stack.changed_at, stack.seen = None, []
    for watcher in watchers:
        watcher.start()
    time.sleep(SETTLED + arguments.interval + len(watchers) / BEGINNERS)
    connection = Connection(daemons.endpoint)
    processes = {name: process.pid for name, process in daemons.processes.items()}
    looks, sent = sum(watcher.looks for watcher in watchers), daemons.watch.counts()
    cpu = {name: cpu_of(pid) for name, pid in processes.items()}
    began = time.monotonic()
    for number in itertools.count():
        wanted = began + number * arguments.every
        if wanted - began >= arguments.seconds:
            break
        time.sleep(max(0.0, wanted - time.monotonic()))
        stacks[number * 7 % len(stacks)].change(connection, f"{how}-{time.time_ns()}")
    time.sleep(max(0.0, began + arguments.seconds - time.monotonic()))
    passed = time.monotonic() - began
    worked = {name: cpu_of(pid) - cpu[name] for name, pid in processes.items()}
    looks = sum(watcher.looks for watcher in watchers) - looks
    sent = daemons.watch.counts() - sent
    for watcher in watchers:
        watcher.stop()
    seen = [each for stack in stacks for each in stack.seen]
    kinds: dict[str, float] = {}
    for name, spent in worked.items():
        kinds[name.partition("-")[0]] = kinds.get(name.partition("-")[0], 0) + spent
    return {
        "how": how,
        "clients": len(watchers),
        "cpu_ms_per_second": {kind: round(1000 * spent / passed, 1) for kind, spent in kinds.items()},
        "requests_per_second": round(looks / passed, 2),
        "sent_per_second": {what: round(count / passed, 2) for what, count in sent.items()},
        "updates": number,
        "updates_seen": len(seen),
        "seen_seconds": round(statistics.median(seen), 3) if seen else None,
        "failures": [repr(watcher.failure) for watcher in watchers if watcher.failure],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--interval", type=float, default=1.0)
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--how", default=",".join(HOW))
    arguments = parser.parse_args()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    with tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory:
        daemons = Measured(
            Path(directory),
            database_url=arguments.database,
            transport_url=arguments.transport,
            engines=1,
            workers=2,
        )
        # Half of the connections may wait, and those of the round before are not gone at once.
        room = 4 * arguments.clients
        daemons.configuration.setdefault("api", {}).update(
            max_connections=room, max_connections_per_address=0, max_waiting=room
        )
        daemons.configure(max_stacks_per_tenant=-1)
        with daemons:
            stacks = make(daemons.endpoint, arguments.clients)
            for _ in range(arguments.rounds):
                for how in arguments.how.split(","):
                    measured = measure(daemons, stacks, how, arguments)
                    report.say(measured)
                    if measured["failures"]:
                        raise SystemExit("the figures are void: clients have failed")


if __name__ == "__main__":
    main()
