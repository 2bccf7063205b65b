# SPDX-License-Identifier: Apache-2.0
"""Many clients, each with small stacks, one after the other: ``python -m tests.perf.small``.

python -m tests.perf.small --database URL --transport URL [--clients 32] [--seconds 20] [--interval 0.3]
python -m tests.perf.small --endpoint URL --processes REGEX [--clients 32] [--seconds 20] [--interval 0.3]

A client creates a stack of five resources (A, B -> C -> D, E, by ``get_attr``), updates it so that all
five change, deletes it, and after each request polls the stack every ``--interval`` seconds until it is
done, as Heat's clients do.  With ``--endpoint`` the stacks are made by whatever listens there, and the
CPU time is that of the processes whose command line the expression finds.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from tests.perf import report
from tests.perf.deployment import Measured
from tests.perf.machine import facts
from tests.perf.measuring import cpu_of

DONE = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"}
FOUND_NO_MORE = 404
WARM_UP = 3.0  #: seconds before anything counts


def five(value: str) -> dict[str, Any]:
    """Return a template of five resources, of which two depend on two by one in between."""

    def after(*names: str) -> dict[str, Any]:
        given = [{"get_attr": [name, "output"]} for name in names]
        return {"type": "OS::Heat::TestResource", "properties": {"value": {"list_join": ["-", given]}}}

    first = {"type": "OS::Heat::TestResource", "properties": {"value": value}}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"a": first, "b": first, "c": after("a", "b"), "d": after("c"), "e": after("c")},
    }


class Client:
    """One user: a connection that stays open, and the times that operations took."""

    def __init__(self, endpoint: str, name: str, interval: float) -> None:
        parts = urlsplit(endpoint)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=120)
        self._base = parts.path
        self._name = name
        self._interval = interval
        self.lives = 0
        self.seconds: dict[str, list[float]] = {"create": [], "update": [], "delete": []}

    def live(self, number: int) -> None:
        """Take one stack from its creation to its deletion."""
        name = f"{self._name}-{number}"
        path = f"/stacks/{name}"
        with self._timed("create"):
            made = self._send("POST", "/stacks", {"stack_name": name, "template": five("x")})
            path = f"/stacks/{name}/{made['stack']['id']}"
            self._await_end(path)
        with self._timed("update"):
            self._send("PUT", path, {"template": five("y")})
            self._await_end(path)
        with self._timed("delete"):
            self._send("DELETE", path)
            self._await_end(path)
        self.lives += 1

    @contextmanager
    def _timed(self, operation: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds[operation].append(time.monotonic() - began)

    def _await_end(self, path: str) -> None:
        gone = {"stack_status": "DELETE_COMPLETE"}
        while True:
            stack = self._send("GET", path).get("stack", gone)
            status = stack["stack_status"]
            if status in DONE:
                return
            if not status.endswith("IN_PROGRESS"):
                raise RuntimeError(f"{path}: {status}: {stack['stack_status_reason']}")
            time.sleep(self._interval)

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "X-Auth-Token": "x"}
        text = None if body is None else json.dumps(body)
        self._connection.request(method, self._base + path, text, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status == FOUND_NO_MORE:
            return {}
        if answer.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return dict(json.loads(content)) if content and answer.status != http.client.NO_CONTENT else {}


def measure(
    endpoint: str,
    processes: Mapping[str, int],
    sent: Callable[[], Counter[str]],
    *,
    clients: int,
    seconds: float,
    interval: float,
) -> dict[str, Any]:
    """Let clients live for so long; return what came of it, and what the processes worked and ``sent``."""
    ended = threading.Event()
    users = [Client(endpoint, f"small-{time.time_ns()}-{number}", interval) for number in range(clients)]
    failures: list[str] = []

    def run(user: Client) -> None:
        number = 0
        try:
            while not ended.is_set():
                user.live(number)
                number += 1
        except Exception as error:  # noqa: BLE001 - whatever it was makes the figure void, and is printed
            failures.append(repr(error))

    threads = [threading.Thread(target=run, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    time.sleep(min(WARM_UP, seconds))
    operations = _operations(users)
    sent_before = sent()
    cpu = {name: cpu_of(pid) for name, pid in processes.items()}
    busy = _busy()
    began = time.monotonic()
    ended.wait(seconds)
    passed = time.monotonic() - began
    done = _operations(users) - operations
    sent_meanwhile = sent() - sent_before
    worked = {name: cpu_of(pid) - cpu[name] for name, pid in processes.items()}
    busy_meanwhile = _busy() - busy
    ended.set()
    for thread in threads:
        thread.join()
    kinds: dict[str, float] = {}
    for name, spent in worked.items():
        kinds[name.partition("-")[0]] = kinds.get(name.partition("-")[0], 0) + spent
    return {
        "stacks_per_second": round(done / 3 / passed, 2),
        "operations": done,
        "cpu_ms_per_operation": round(1000 * sum(worked.values()) / max(done, 1), 2),
        "cpu_ms_of": {kind: round(1000 * spent / max(done, 1), 2) for kind, spent in kinds.items()},
        "machine_cpu_ms_per_operation": round(1000 * busy_meanwhile / max(done, 1), 2),
        "sent_per_operation": {
            what: round(count / max(done, 1), 2) for what, count in sent_meanwhile.items()
        },
        "median_seconds": {
            name: round(statistics.median(taken), 3)
            for name in users[0].seconds
            if (taken := [each for user in users for each in user.seconds[name]])
        },
        "failures": failures,
    }


def _busy() -> float:
    """Return the CPU seconds that this machine has worked: for clients, servers and all others."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait - times.steal - times.guest - times.guest_nice)


def _operations(users: list[Client]) -> int:
    return sum(len(taken) for user in users for taken in user.seconds.values())


def _say(measured: dict[str, Any]) -> None:
    report.say(measured)
    if measured["failures"]:
        raise SystemExit("the figures are void: clients have failed")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database")
    parser.add_argument("--transport")
    parser.add_argument("--endpoint", help="of something that runs already, in place of our daemons")
    parser.add_argument("--processes", default="^$", help="its processes: what their command lines have")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--interval", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    kept = {"clients": arguments.clients, "seconds": arguments.seconds, "interval": arguments.interval}
    if arguments.endpoint:
        found = re.compile(arguments.processes)
        processes = {
            f"process-{each.pid}": each.pid
            for each in psutil.process_iter(["cmdline"])
            if found.search(" ".join(each.info["cmdline"] or []))
        }
        for _ in range(arguments.rounds):
            _say(measure(arguments.endpoint, processes, Counter, **kept))
        return
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Measured(
            Path(directory),
            database_url=arguments.database,
            transport_url=arguments.transport,
            engines=arguments.engines,
            workers=arguments.workers,
        ) as daemons,
    ):
        processes = {name: process.pid for name, process in daemons.processes.items()}
        for _ in range(arguments.rounds):
            _say(measure(daemons.endpoint, processes, daemons.watch.counts, **kept))


if __name__ == "__main__":
    main()
