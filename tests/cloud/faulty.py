# SPDX-License-Identifier: Apache-2.0
"""A proxy between heatconv and a cloud's services, which answers in their place, cuts, or is silent.

``http_proxy`` leads every client to it.  What was asked for, and when, it knows.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

CUT = 0  #: the status of what got no answer, and was cut off
SILENT = -1  #: the status of what got none, and was left to wait for one until it went away

#: Headers between two machines only, which are not to be passed on.
_OF_A_LINE = frozenset({"connection", "keep-alive", "proxy-connection", "transfer-encoding"})


@dataclass(frozen=True)
class Asked:
    """A request, and the status of its answer."""

    method: str
    url: str
    status: int
    at: float  #: by the monotonic clock


@dataclass
class Fault:
    """What becomes of requests that match, a verb and an address; of so many, or of all if None."""

    pattern: str
    times: int | None = 1
    status: int = CUT
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b'{"error": {"message": "a fault", "code": 0}}'
    carried_out: bool = False  #: by the service, of whose answer nobody hears


class Faulty:
    """Listens on loopback; use it as a context manager.

    Concurrency: any thread may call.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(self, fault: Fault) -> None:
        """Let something go wrong from now on."""
        with self._lock:
            self._faults.append(fault)

    def mend(self) -> None:
        """Let nothing go wrong any more, and forget the requests so far."""
        with self._lock:
            self._faults.clear()
            self.asked.clear()

    def stop_failing(self) -> None:
        """Let nothing go wrong any more."""
        with self._lock:
            self._faults.clear()

    def count(self, pattern: str) -> int:
        """Return how many requests match, a verb and an address."""
        return len(self.matching(pattern))

    def matching(self, pattern: str) -> list[Asked]:
        """Return the requests that match, a verb and an address."""
        with self._lock:
            return [each for each in self.asked if re.search(pattern, f"{each.method} {each.url}")]

    def strike(self, method: str, url: str) -> Fault | None:
        """Return the fault that befalls a request, once for each time that it may."""
        with self._lock:
            for fault in self._faults:
                if fault.times != 0 and re.search(fault.pattern, f"{method} {url}"):
                    fault.times = None if fault.times is None else fault.times - 1
                    return fault
        return None

    def note(self, method: str, url: str, status: int) -> None:
        """Note a request and its answer."""
        with self._lock:
            self.asked.append(Asked(method, url, status, time.monotonic()))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, faulty: Faulty, *request: Any) -> None:
        self._faulty = faulty
        super().__init__(*request)

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self._faulty.strike(self.command, self.path)
        if fault is None or fault.carried_out:
            status, headers, answer = self._carried_out(body)
        else:
            status, headers, answer = fault.status, dict(fault.headers), fault.body
        if fault is not None and fault.status in (CUT, SILENT):
            self._keep_silent(fault)
            return
        self._faulty.note(self.command, self.path, status)
        self._answer(status, headers, answer)

    def _keep_silent(self, fault: Fault) -> None:
        self._faulty.note(self.command, self.path, fault.status)
        if fault.status == SILENT:
            self.rfile.read(1)
        self.close_connection = True

    def _carried_out(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        to = urlsplit(self.path)
        service = HTTPConnection(to.netloc, timeout=120)
        own = {name: value for name, value in self.headers.items() if name.lower() not in _OF_A_LINE}
        target = to.path + (f"?{to.query}" if to.query else "")
        service.request(self.command, target, body or None, own)
        answer = service.getresponse()
        shown = {name: value for name, value in answer.getheaders() if name.lower() not in _OF_A_LINE}
        content = answer.read()
        service.close()
        return answer.status, shown, content

    def _answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        if self.command == "HEAD" or status in (204, 304):
            self.send_header("Content-Length", headers.get("Content-Length", "0"))
            content = b""
        else:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
