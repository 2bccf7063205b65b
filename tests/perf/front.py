# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of the API by itself.

python -m tests.perf.front [--held 0 1000] [--clients 1 8] [--requests 1000]

Some clients ask for something that costs nothing, each for one after the other, while so many requests of
others are held.  Printed is what a request takes: CPU time of the server, and the median from its beginning
to its answer, in milliseconds.
"""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import multiprocessing
import resource
import socket
import statistics
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import product
from typing import Any

from heatconv.api.watch import HOLD
from heatconv.cmd.compose.front import Bounds, Front, listen

FIRST = 80  #: requests that do not count
CONNECTIONS = 10_000
PATIENCE = 60  #: seconds in which the requests are held that are to be


class Application:
    """Holds requests for /held, and answers others at once."""

    def __init__(self) -> None:
        self.held: list[Any] = []
        self._changed = threading.Condition()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        """See PEP 3333."""
        if environ["PATH_INFO"] == "/held":
            hold = environ[HOLD]
            hold.try_begin()
            with self._changed:
                self.held.append(hold)
                self._changed.notify_all()
            start_response("304 Not Modified", [])
            return []
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    def until_held(self, number: int) -> None:
        """Wait until so many requests are held."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.held) == number, PATIENCE)


def ask(address: tuple[str, int], clients: int, requests: int) -> list[float]:
    """Send so many requests, as some clients at once; return what each took, in seconds."""

    def be_client(requests: int) -> list[float]:
        durations = []
        with closing(http.client.HTTPConnection(*address)) as connection:
            for _ in range(requests):
                began = time.perf_counter()
                connection.request("GET", "/other")
                connection.getresponse().read()
                durations.append(time.perf_counter() - began)
        return durations

    with ThreadPoolExecutor(clients) as pool:
        return [each for of_one in pool.map(be_client, [requests // clients] * clients) for each in of_one]


def measure(held: int, clients: int, requests: int) -> dict[str, float]:
    """Return what a request of some clients takes while others are held."""
    application = Application()
    bounds = Bounds(seconds=600, connections=CONNECTIONS, connections_of_address=CONNECTIONS, body=1000)
    front = Front(application, listen("127.0.0.1", 0, shared=False), 4, bounds)
    address = front.socket.getsockname()
    serving = threading.Thread(target=front.serve)
    serving.start()
    with ExitStack() as until:
        until.callback(serving.join)
        until.callback(front.stop)
        for number in range(1, held + 1):
            waiting = until.enter_context(socket.create_connection(address))
            waiting.sendall(b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            application.until_held(number)
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as others:
            others.submit(ask, address, clients, FIRST).result()
            spent = time.process_time()
            durations = others.submit(ask, address, clients, requests).result()
            spent = time.process_time() - spent
    return {
        "held": held,
        "clients": clients,
        "cpu_ms": round(1000 * spent / len(durations), 3),
        "median_ms": round(1000 * statistics.median(durations), 3),
    }


def main() -> None:
    """Measure, and print a line of JSON for each number of requests that are held, and of clients."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf.front")
    parser.add_argument("--held", type=int, nargs="+", default=[0, 1000])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--requests", type=int, default=1000)
    arguments = parser.parse_args()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it says how long each burst is
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for held, clients in product(arguments.held, arguments.clients):
        print(json.dumps(measure(held, clients, arguments.requests)))


if __name__ == "__main__":
    main()
