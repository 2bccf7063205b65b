# SPDX-License-Identifier: Apache-2.0
"""What objects of a service cost by a plugin, beside a bare script: ``python -m tests.perf.objects``.

python -m tests.perf.objects --database URL --transport URL
    [--count 1000] [--threads 64] [--workers 2] [--delay 0] [--rounds 3]

A stack of so many objects, which do not depend on each other, is created and deleted by
heatconv's real daemons, with a plugin in Heat's manner (``tests/perf/plugins``); in turn
with them a script of as many threads as all workers have makes the same calls, two for
each creation and two for each deletion, with the same client. The object server is a process of
its own. Each operation gives a line of JSON; the last has the rate of heatconv over that of the
script, round by round.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import requests

from tests.functional.servers.processes import Process
from tests.perf import report
from tests.perf.bench import Bench
from tests.perf.deployment import ROOT, Measured
from tests.perf.machine import facts
from tests.perf.object_client import Client, NotFound

PLUGINS = Path(__file__).parent / "plugins"
ADDRESS = "HEATCONV_PERF_OBJECTS"  #: where the plugin finds the object server
WARM_UP = 200  #: objects that are made and removed before anything counts
OPERATIONS = ("create", "delete")

Record = dict[str, Any]


class Server:
    """The object server, and what was asked of it."""

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self._process = psutil.Process(pid)

    def measure(self, who: str, count: int, operate: Callable[[], Record]) -> Record:
        """Have somebody carry out an operation about so many objects; add what the server had to do."""
        before, cpu = self._asked(), self._process.cpu_times()
        record = operate()
        after, spent = self._asked(), self._process.cpu_times()
        return {
            "who": who,
            **record,
            "calls_each": round((after["calls"] - before["calls"]) / count, 2),
            "connections": after["connections"] - before["connections"] - 1,  # that of the question
            "server_cpu_ms_each": round(
                1000 * (spent.user + spent.system - cpu.user - cpu.system) / count, 2
            ),
        }

    def _asked(self) -> Any:
        with requests.Session() as session:
            session.trust_env = False  # a proxy must not come between us and loopback
            return session.get(f"{self.url}/calls", timeout=60).json()


@contextmanager
def _server(directory: Path, delay: float) -> Iterator[Server]:
    command = [sys.executable, "-m", "tests.perf.object_server", "--delay", str(delay)]
    process = Process(command, directory / "objects.log", {"PYTHONPATH": str(ROOT)})
    try:
        yield Server(process.wait_for(r"objects are at (\S+)")[1], process.pid)
    finally:
        process.kill()


class Script:
    """Makes the same calls from a pool of threads, each with a client of its own."""

    def __init__(self, url: str, threads: int) -> None:
        self._url = url
        self._own = threading.local()
        self._pool = ThreadPoolExecutor(threads)
        self._made: list[str] = []

    def close(self) -> None:
        self._pool.shutdown()

    def life(self, count: int) -> Iterator[Callable[[], Record]]:
        """Yield what creates so many objects, and then what deletes them."""
        yield lambda: self._operation("create", count, self._create)
        yield lambda: self._operation("delete", count, self._delete)

    def _operation(self, name: str, count: int, operate: Callable[[int], None]) -> Record:
        cpu, began = time.process_time(), time.monotonic()
        for _ in self._pool.map(operate, range(count)):
            pass
        seconds, spent = time.monotonic() - began, time.process_time() - cpu
        return {
            "operation": name,
            "concerned": count,
            "seconds": round(seconds, 3),
            "resources_per_second": round(count / seconds, 1),
            "cpu_seconds_each": round(spent / count, 4),
        }

    def _create(self, place: int) -> None:
        made = self._client().create(f"object-{place}", "x")
        self._made.append(made["id"])
        self._client().get(made["id"])

    def _delete(self, _place: int) -> None:
        object_id = self._made.pop()
        self._client().delete(object_id)
        try:
            self._client().get(object_id)
        except NotFound:
            return
        raise RuntimeError(f"{object_id} is there still")

    def _client(self) -> Client:
        if not hasattr(self._own, "client"):
            self._own.client = Client(self._url)
        client: Client = self._own.client
        return client


def _heatconv(bench: Bench, name: str, count: int) -> Iterator[Callable[[], Record]]:
    """Yield what creates a stack of so many objects, and then what deletes it."""
    objects = {f"object-{place}": {"type": "Perf::Object"} for place in range(count)}
    body = {"template": {"heat_template_version": "2021-04-16", "resources": objects}}
    yield lambda: bench.operation("create", count, lambda: bench.start(name, body))
    yield lambda: bench.operation("delete", count, lambda: bench.delete(name))


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    records = []
    for record in _measured(arguments):
        report.say(record)
        records.append(record)
    report.say(_ratios(records))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=64, help="of each worker")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--delay", type=float, default=0, help="seconds until a call is answered")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def _measured(arguments: argparse.Namespace) -> Iterator[Record]:
    """Yield what each operation took of the script and of heatconv, who take turns."""
    with ExitStack() as until:
        directory = Path(until.enter_context(tempfile.TemporaryDirectory(prefix="heatconv-perf-")))
        server = until.enter_context(_server(directory, arguments.delay))
        os.environ[ADDRESS] = server.url
        daemons = Measured(
            directory,
            database_url=arguments.database,
            transport_url=arguments.transport,
            engines=1,
            workers=arguments.workers,
            threads=arguments.threads,
        )
        daemons.configure(plugin_dirs=PLUGINS)
        bench = Bench(until.enter_context(daemons), arguments.database)
        until.callback(bench.close)
        script = Script(server.url, arguments.workers * arguments.threads)
        until.callback(script.close)
        for number in range(arguments.rounds + 1):
            count = arguments.count if number else WARM_UP
            lives = {
                "script": script.life(count),
                "heatconv": _heatconv(bench, f"objects-{os.getpid()}-{number}", count),
            }
            for who, life in lives.items():
                for operate in life:
                    record = server.measure(who, count, operate)
                    if number:
                        yield {"round": number, **record}


def _ratios(records: Sequence[Record]) -> Record:
    """Return the rate of heatconv over that of the script: of each operation the median, and each round's."""
    ratios: Record = {}
    for operation in OPERATIONS:
        rates = {
            who: [
                record["resources_per_second"]
                for record in records
                if (record["who"], record["operation"]) == (who, operation)
            ]
            for who in ("script", "heatconv")
        }
        each = [ours / bare for ours, bare in zip(rates["heatconv"], rates["script"], strict=True)]
        ratios[operation] = {
            "heatconv_a_second": statistics.median(rates["heatconv"]),
            "script_a_second": statistics.median(rates["script"]),
            "heatconv/script": round(statistics.median(each), 2),
            "each": [round(ratio, 2) for ratio in each],
        }
    return ratios


if __name__ == "__main__":
    main()
