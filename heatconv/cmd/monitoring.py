# SPDX-License-Identifier: Apache-2.0
"""What a daemon says of itself to those who watch over it, on an address of its own.

``/metrics`` is what it has counted (``heatconv.metrics``), for Prometheus; ``/healthcheck`` is
answered as long as the process runs; ``/readiness`` is 200 if it can work, else 503, with what is
missing.  Nobody has to log in; nothing here names a stack, a project or a user.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from socket import AF_INET6, getaddrinfo

from oslo_config import cfg

from heatconv import errors
from heatconv.metrics import declared, instruments

LOG = logging.getLogger(__name__)

PATIENCE = 5.0  #: seconds that something may take to be found well
SLOWEST = 10.0  #: seconds that a client may take to send a request

TEXT, JSON = "text/plain; charset=utf-8", "application/json"

Look = Callable[[], object]  #: raises what is wrong


def start(conf: cfg.ConfigOpts, looks: Mapping[str, Look], process: int = 0) -> Monitoring | None:
    """Count, listen and answer from now on, if the operator has said where.

    Args:
        conf: the configuration.
        looks: what has to be well for the daemon to be ready, by name.
        process: which of the daemon's processes this is, from 0.

    Raises:
        SystemExit: the address cannot be had.
    """
    if conf.metrics.listen is None:
        return None
    host, _, port = conf.metrics.listen.rpartition(":")
    try:
        return Monitoring(host.strip("[]"), int(port) and int(port) + process, looks)
    except (OSError, OverflowError) as error:
        raise SystemExit(f"{conf.prog}: [metrics] listen = {conf.metrics.listen}: {error}.") from error


class Monitoring:
    """A server on threads of its own, until the process ends."""

    def __init__(self, host: str, port: int, looks: Mapping[str, Look]) -> None:
        """Listen.

        Raises:
            OSError: the address cannot be had.
        """
        self._registry = instruments.switch_on(declared.ALL)
        self._lookouts = [_Lookout(name, look) for name, look in looks.items()]
        monitoring = self

        class Handler(_Handler):
            def answer(self) -> tuple[HTTPStatus, str, bytes]:
                return monitoring.answer(self.path.partition("?")[0])

        class Server(ThreadingHTTPServer):
            address_family = getaddrinfo(host, port)[0][0]
            daemon_threads = True

        self._server = Server((host, port), Handler)
        threading.Thread(target=self._server.serve_forever, name="monitoring", daemon=True).start()
        LOG.info("metrics are at %s", self.url)

    @property
    def url(self) -> str:
        """Where the metrics are."""
        host, port = self._server.server_address[:2]
        host = f"[{host!s}]" if self._server.address_family == AF_INET6 else str(host)
        return f"http://{host}:{port}/metrics"

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Return status, type and body of what is at a path."""
        match path:
            case "/metrics":
                from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest  # noqa: PLC0415 - as in instruments

                return HTTPStatus.OK, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry)
            case "/healthcheck":
                return HTTPStatus.OK, TEXT, b"OK\n"
            case "/readiness":
                found = {each.name: each.problem() for each in self._lookouts}
                status = HTTPStatus.SERVICE_UNAVAILABLE if any(found.values()) else HTTPStatus.OK
                said = {name: problem or "ok" for name, problem in found.items()}
                return status, JSON, json.dumps(said).encode() + b"\n"
        return HTTPStatus.NOT_FOUND, TEXT, b"There are /metrics, /healthcheck and /readiness.\n"


class _Lookout:
    """Something that has to be well.

    Concurrency: however many ask, one looks at a time, and whoever asks waits for a while.
    """

    def __init__(self, name: str, look: Look) -> None:
        self.name = name
        self._look = look
        self._found: str | None = None
        self._looking: threading.Thread | None = None
        self._lock = threading.Lock()

    def problem(self) -> str | None:
        """Return what is wrong; None if all is well."""
        with self._lock:
            looking = self._looking
            if looking is None or not looking.is_alive():
                looking = self._looking = threading.Thread(target=self._find, name=self.name, daemon=True)
                looking.start()
        looking.join(PATIENCE)
        return f"nothing was heard for {PATIENCE:g} s" if looking.is_alive() else self._found

    def _find(self) -> None:
        try:
            self._look()
        except errors.HeatconvError as error:
            self._found = str(error)
        except Exception as error:
            LOG.exception("whether all is well with the %s could not be found out", self.name)
            self._found = type(error).__name__
        else:
            self._found = None


class _Handler(BaseHTTPRequestHandler):
    """Answers one request, and closes the connection."""

    timeout = SLOWEST
    server_version = f"heatconv/{metadata.version('heatconv')}"

    def answer(self) -> tuple[HTTPStatus, str, bytes]:
        """Return status, type and body."""
        raise NotImplementedError

    def do_GET(self) -> None:
        """Answer."""
        status, kind, body = self.answer()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - likewise

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of what comes every few seconds."""
        LOG.debug(format, *args)
