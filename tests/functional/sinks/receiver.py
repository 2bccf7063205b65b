# SPDX-License-Identifier: Apache-2.0
"""An HTTP server that takes webhooks: it checks signatures, and can be made to behave badly."""

from __future__ import annotations

import hashlib
import hmac
import json
import queue
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

PATIENCE = 60  #: seconds that something may take to come

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """Note what came, and answer."""
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.event = json.loads(data)
        self.server.receiver.note(self, data)
        self.server.receiver.answer(self)

    def give(self, status: int, content: bytes = b"", **headers: str) -> None:
        """Answer with a status."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args: Any) -> None:
        """Keep quiet."""


class Server(ThreadingHTTPServer):
    """The server around the requests."""

    daemon_threads = True
    receiver: Receiver

    def handle_error(self, *_args: Any) -> None:
        """Expect the other side to hang up."""


def take(handler: Handler) -> None:
    """Say that all is well."""
    handler.give(200)


class Receiver:
    """Takes webhooks until told otherwise; ``answer`` is how.

    ``tried`` are the events that were posted, ``taken`` those of them that were
    answered well, each as ``RESOURCE ACTION_STATUS``.
    """

    def __init__(self, port: int = 0, secret: str | None = None) -> None:
        self.secret = secret
        self.tried: list[str] = []
        self.taken: list[str] = []
        self.ids: list[str] = []
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.came: queue.Queue[str] = queue.Queue()
        self.answer: Answer = take
        self._server = Server(("127.0.0.1", port), Handler)
        self._server.receiver = self
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def note(self, handler: Handler, data: bytes) -> None:
        if self.secret is not None:
            assert_signed(handler.headers["X-Heatconv-Signature"], data, self.secret)
        payload = handler.event["payload"]
        said = f"{payload['resource_name']} {payload['resource_action']}_{payload['resource_status']}"
        self.tried.append(said)
        self.ids.append(handler.headers["X-Heatconv-Delivery"])
        self.bodies.append(handler.event)
        self.headers.append(dict(handler.headers))
        if self.answer is take:
            self.taken.append(said)
        self.came.put(said)

    def wait_for(self, said: str) -> None:
        """Wait until an event has come."""
        self.wait_until(lambda: said in self.tried)

    def wait_until(self, fits: Callable[[], bool]) -> None:
        """Wait until what has come fits."""
        while not fits():
            self.came.get(timeout=PATIENCE)


def assert_signed(header: str, data: bytes, secret: str) -> None:
    """Check a signature as a receiver would."""
    parts = dict(part.split("=", 1) for part in header.split(","))
    wanted = hmac.new(secret.encode(), parts["t"].encode() + b"." + data, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(parts["v1"], wanted)
    assert abs(time.time() - int(parts["t"])) < PATIENCE
