# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of the API by itself: ``python -m tests.perf.front [--held 0 1000] [--requests 1000]``.

Somebody asks for something that costs nothing, one request after another, while so many requests of others
are held.  Printed is what a request takes: CPU time of server and client together, and the median from its
beginning to its answer, in milliseconds.
"""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import resource
import socket
import statistics
import threading
import time
from contextlib import ExitStack
from typing import Any

from heatconv.api.watch import HOLD
from heatconv.cmd.compose.front import Bounds, Front, listen

FIRST = 50  #: requests that do not count
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


def measure(held: int, requests: int) -> dict[str, float]:
    """Return what a request takes while others are held."""
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
        connection = http.client.HTTPConnection(*address)
        until.callback(connection.close)
        durations = []
        for number in range(FIRST + requests):
            if number == FIRST:
                spent = time.process_time()
            began = time.perf_counter()
            connection.request("GET", "/other")
            connection.getresponse().read()
            durations.append(time.perf_counter() - began)
        spent = time.process_time() - spent
    return {
        "held": held,
        "cpu_ms": round(1000 * spent / requests, 3),
        "median_ms": round(1000 * statistics.median(durations[FIRST:]), 3),
    }


def main() -> None:
    """Measure, and print a line of JSON for each number of requests that are held."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf.front")
    parser.add_argument("--held", type=int, nargs="+", default=[0, 1000])
    parser.add_argument("--requests", type=int, default=1000)
    arguments = parser.parse_args()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it says how long each burst is
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for held in arguments.held:
        print(json.dumps(measure(held, arguments.requests)))


if __name__ == "__main__":
    main()
