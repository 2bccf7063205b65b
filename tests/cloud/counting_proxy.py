# SPDX-License-Identifier: Apache-2.0
"""A way to a cloud that counts: every request of whoever takes it, by service and kind of call.

It is before all services of a cloud: ``http://HOST:PORT/9696/v2.0/ports`` is
``http://127.0.0.1:9696/v2.0/ports``.  Addresses of services in what they answer, the
catalog above all, are changed so that clients go on by this way.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import urlsplit

ID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}|v\d[\d.]*|real-[\w-]+")
SERVICES = {
    "5000": "keystone",
    "8774": "nova",
    "9696": "neutron",
    "9292": "glance",
    "8776": "cinder",
    "8778": "placement",
}
LOOKS = {"GET", "HEAD"}
PASSED_ON = {"content-length", "connection", "transfer-encoding", "host", "accept-encoding", "keep-alive"}


class Call(NamedTuple):
    """A request."""

    at: float  #: by the monotonic clock
    verb: str
    what: str  #: of which service, without ids; of an action on something, which one
    path: str

    def __str__(self):
        return f"{self.verb} {self.what}"


class CountingProxy:
    """The way, at a port of its own or at that which is asked for.

    Concurrency: many requests at a time.
    """

    def __init__(self, host="127.0.0.1", port=0):
        self._host = host
        self._lock = threading.Lock()
        self.calls: list[Call] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass(self):
                proxy._pass(self)

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self._pass
                raise AttributeError(name)

            def log_message(self, *_args):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def leading_to(self, url):
        """Return an address of a service by this way."""
        there = urlsplit(url)
        return f"http://127.0.0.1:{self.port}/{there.port}{there.path}"

    def counted(self, since=0.0):
        """Return how often each thing was called since a moment, logins left out."""
        return Counter(map(str, self._since(since)))

    def changes(self, since=0.0):
        """Return the calls since a moment that were to change something, logins left out."""
        return [call for call in self._since(since) if call.verb not in LOOKS]

    def _since(self, since):
        return [call for call in self.calls if call.at >= since and not call.what.startswith("keystone")]

    def _pass(self, handler):
        _, port, *rest = handler.path.split("/")
        if not port.isdecimal():  # a client that looks for a service above its address
            handler.send_error(404)
            return
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length) if length else None
        path = "/".join(rest).partition("?")[0]
        what = ID.sub("*", path).strip("/*")
        if path.endswith("/action"):
            what = " ".join([what, *json.loads(body or b"{}")])
        call = Call(time.monotonic(), handler.command, f"{SERVICES.get(port, port)} {what}", path)
        with self._lock:
            self.calls.append(call)
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in PASSED_ON}
        there = HTTPConnection(self._host, int(port), timeout=120)
        try:
            there.request(handler.command, "/" + "/".join(rest), body, headers)
            answer = there.getresponse()
            content = self._changed(answer.read())
            handler.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in PASSED_ON:
                    handler.send_header(name, self._changed(value.encode()).decode())
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            if handler.command != "HEAD":
                handler.wfile.write(content)
        finally:
            there.close()

    def _changed(self, text):
        return re.sub(rb"http://127\.0\.0\.1:(\d+)", rb"http://127.0.0.1:%d/\1" % self.port, text)
