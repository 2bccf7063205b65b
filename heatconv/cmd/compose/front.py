# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of the API: one thread reads requests, others answer those that are complete.

Waitress does the work.  What is added here bounds what somebody can hold who has
not even logged in: the time that a client may take to send a request or to receive
an answer, the number of connections, and the part of a body that is kept.
The health check has a thread of its own.  A request that waits for something has none (``Hold``).
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from wsgiref.types import WSGIApplication

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask
from waitress.utilities import RequestEntityTooLarge

from heatconv.api.hosts import network
from heatconv.api.watch import HOLD
from heatconv.cmd.compose.holds import Held, Hold, Holds
from heatconv.cmd.compose.loop import Loop
from heatconv.rpc.asking import waited_for_since

LOG = logging.getLogger(__name__)

HEADER = 65536  #: bytes that the first line and the headers of a request may have
DRAINED = 16 * 1024 * 1024  #: bytes that are received of a body that is too large, so that the answer arrives
GRACE = 30.0  #: seconds that requests under way get when the server is stopped
GATHERED = 65536  #: bytes of an answer that are sent at once; of a longer one some are before it is complete
WARNINGS = 60.0  #: seconds from one warning of too many connections to the next


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What clients may hold of a server."""

    seconds: float  #: to send a request, to receive an answer, and to keep a connection without either
    connections: int
    connections_of_address: int  #: a network of 64 bits, if IPv6
    body: int  #: bytes of a request body that are kept
    paths_apart: frozenset[str] = frozenset()  #: these are answered by a thread of their own


class Front(TcpWSGIServer):  # type: ignore[misc]  # it has no types
    """Serves a WSGI application on a socket.

    Concurrency: connections are opened, read, counted and closed by the thread in
    ``serve`` alone; the threads of ``Lanes`` run the application.
    """

    channel_class: Any = None  #: see ``Connection``

    def __init__(
        self, application: WSGIApplication, listener: socket.socket, threads: int, bounds: Bounds
    ) -> None:
        """Take a socket that listens; nothing is accepted before ``serve``."""
        self.bounds = bounds
        self.stopping = False
        self.holds = Holds(bounds.connections // 2, bounds.connections_of_address // 2)
        self.connections: dict[str, set[Connection]] = {}  #: by address
        self._next_warning = 0.0
        self.loop = Loop()
        self._waking = threading.RLock()  # held again by a signal handler, which interrupts its holder
        self._can_be_woken = True
        adjustments = Adjustments(
            sockets=[],
            ident=None,
            log_socket_errors=False,
            clear_untrusted_proxy_headers=False,  # the application's middleware reads them, if configured
            connection_limit=2 * bounds.connections + 100,  # never reached: ``admit`` is stricter
            max_request_header_size=HEADER,
            max_request_body_size=max(bounds.body, DRAINED) + 1,
            channel_timeout=bounds.seconds,
            cleanup_interval=min(1, bounds.seconds / 4),
        )
        # As one of the arguments, waitress calls it deprecated; its default is one byte.
        adjustments.send_bytes = GATHERED
        super().__init__(
            application,
            _sock=listener,
            dispatcher=Lanes(threads, bounds.paths_apart),
            adj=adjustments,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
            bind_socket=False,
            map=self.loop,
        )

    def serve(self, at_each_turn: Callable[[], None] = lambda: None) -> None:
        """Serve until stopped, and answer what was received by then; a turn takes a second at most."""
        while not self.stopping:
            at_each_turn()
            self._turn()
        wasyncore.dispatcher.close(self)
        self.loop.look_at(self.active_channels.values())
        deadline = time.monotonic() + GRACE
        self.holds.close()
        while any(each.in_work for each in self.active_channels.values()) and time.monotonic() < deadline:
            self._turn()
        self.task_dispatcher.shutdown()
        with self._waking:
            self._can_be_woken = False
            self.trigger.close()
        self.loop.close()

    def stop(self) -> None:
        """Let ``serve`` return; any thread, and any signal handler, may ask for it."""
        if not self.stopping:
            self.stopping = True
            # In a signal handler green threads may not write; the loop looks up by itself within a second.
            with suppress(RuntimeError):
                self.pull_trigger()

    def pull_trigger(self) -> None:
        """See the base; what is closed is not written to, as its number may be another file's by then."""
        with self._waking:
            if self._can_be_woken:
                super().pull_trigger()

    def add_task(self, connection: Connection) -> None:
        """See the base."""
        self.loop.begin(connection)
        super().add_task(connection)

    def admit(self, newcomer: Connection) -> None:
        """Count a new connection; close one in its place where there are too many.

        That is one of the same address, or of the address that has the most; of these,
        the one that has gone longest without a complete request.
        """
        own = self.connections.setdefault(newcomer.address, set())
        own.add(newcomer)
        if len(own) > self.bounds.connections_of_address:
            self._shed(own)
        elif len(self.active_channels) > self.bounds.connections:
            self._shed(max(list(self.connections.values()), key=len))

    def forget(self, connection: Connection) -> None:
        """Count a connection no more."""
        own = self.connections.get(connection.address, set())
        own.discard(connection)
        if not own:
            self.connections.pop(connection.address, None)

    def maintenance(self, now: float) -> None:
        """Close the connections whose clients have taken too long."""
        for connection in list(self.active_channels.values()):
            connection.hurry(now, self.bounds.seconds)
        self.loop.look_at(self.active_channels.values())

    def handle_accept(self) -> None:
        """Take a connection, and go on listening whatever becomes of it."""
        try:
            super().handle_accept()
        except Exception:
            LOG.exception("A connection could not be accepted")

    def _shed(self, connections: set[Connection]) -> None:
        one = min(tuple(connections), key=lambda each: (bool(each.requests), each.free_since))
        if time.monotonic() >= self._next_warning:
            self._next_warning = time.monotonic() + WARNINGS
            LOG.warning(
                "%s has %s connections; another was closed that had no complete request for the longest time:"
                " see [api] max_connections and max_connections_per_address",
                one.address,
                len(connections),
            )
        one.handle_close()

    def _turn(self) -> None:
        try:
            self.loop.look_at([self])  # which sees to the slow clients when it is asked
            self.loop.turn(self.adj.cleanup_interval)
        except Exception:
            LOG.exception("The connections could not be looked at, and will be again")


class Task(WSGITask):  # type: ignore[misc]  # it has no types
    """Has one request answered by the application."""

    def get_environment(self) -> dict[str, Any]:
        """See the base; ``SERVER_NAME`` is the address that the client has connected to."""
        environ: dict[str, Any] = super().get_environment()
        host, port = self.channel.met_at
        if self.request.hold is None:
            self.request.hold = self.channel.new_hold()
        return environ | {"SERVER_NAME": str(host), "SERVER_PORT": str(port), HOLD: self.request.hold}

    def set_close_on_finish(self) -> None:
        """See the base, which does so after each answer without a body too: nothing says where that ends."""
        asked_for = self.version != "1.1" or self.request.headers.get("CONNECTION", "").lower() == "close"
        if self.has_body or asked_for:
            super().set_close_on_finish()

    def write(self, data: bytes) -> None:
        """See the base."""
        self.channel.is_gathering = True
        super().write(data)

    def finish(self) -> None:
        """See the base; what is held is not sent, and all else is sent from here.

        Raises:
            Held: that is so.
        """
        if self.request.hold.is_begun and not self.wrote_header:
            raise Held
        super().finish()
        self.channel.send_answer()


class Connection(HTTPChannel):  # type: ignore[misc]  # it has no types
    """One client's connection."""

    task_class = Task
    server: Front
    request: Request | None

    def __init__(
        self, server: Front, sock: socket.socket, addr: tuple[Any, ...], adj: Adjustments, map: Any = None
    ) -> None:
        self.met_at = sock.getsockname()[:2]
        self.address = network(str(addr[0]))
        self.free_since = time.time()
        self.asked_at = time.monotonic()  #: when the request that is to be answered next was there
        self._served = 0
        self.is_gathering = False  #: whether a thread is writing an answer that it will send
        self._owed: object = None
        self._owed_since = 0.0
        self.parser_class = partial(Request, kept=server.bounds.body)
        super().__init__(server, sock, addr, adj, map=map)
        server.admit(self)

    @property
    def in_work(self) -> bool:
        """Whether a request is being answered, or an answer sent."""
        return bool(self.requests or self.total_outbufs_len)

    @property
    def is_held(self) -> bool:
        """Whether the request that is to be answered next is not to be answered now."""
        request = next(iter(self.requests), None)
        return request is not None and request.hold is not None and bool(request.hold.is_begun)

    def new_hold(self) -> Hold:
        """Return what can hold a request."""
        return Hold(
            self.server.holds, self.address, lambda: self.connected, lambda: self.server.add_task(self)
        )

    def readable(self) -> bool:
        """See the base; a server that stops takes nothing new.

        Of a client whose request is held it is seen whether it has gone.
        """
        if self.server.stopping:
            return False
        if self.is_held:
            return len(self.requests) == 1 and self.request is None
        return bool(super().readable())

    def writable(self) -> bool:
        """See the base; what a thread gathers is sent by the thread, and nothing can be done until then."""
        if self.is_gathering and self.total_outbufs_len < GATHERED:
            return bool(self.will_close)
        return bool(super().writable())

    def send_answer(self) -> None:
        """Send what was gathered, as far as the client takes it; the loop sends the rest."""
        with self.outbuf_lock:
            self._flush_exception(self._flush_some, do_close=False)
            self.is_gathering = False

    def service(self) -> None:
        """Answer one request; its client waits since it was there, and not since there is a thread for it."""
        request = self.requests[0]
        try:
            with waited_for_since(self.asked_at):
                super().service()
        except Held:
            request.hold.leave()
        else:
            if request.hold is not None:
                request.hold.note_answered()
            self.free_since = time.time()
            self._served += 1
        finally:
            if self.is_gathering:  # it went wrong in the midst of its answer
                self.is_gathering = False
                self.server.pull_trigger()
            self.server.loop.end(self)

    def hurry(self, now: float, seconds: float) -> None:
        """End a connection whose client has owed the same thing for longer than that.

        It owes the rest of the request that it began, or to receive an answer; it
        matters nothing that single bytes come and go meanwhile.  One that owes nothing
        may be silent for as long.
        """
        owed = self._owes()
        if owed != self._owed:
            self._owed, self._owed_since = owed, now
        elif owed is None:
            self.will_close = not self.requests and now - self.last_activity > seconds
        elif now - self._owed_since > seconds:
            if owed is self.request:
                self._refuse_slow_request(seconds)
            else:
                self.handle_close()

    def del_channel(self, map: Any = None) -> None:
        """See the base."""
        super().del_channel(map)
        self.server.forget(self)

    def _owes(self) -> object:
        """Return what the client owes: a request, the number of an answer, or None."""
        if self.total_outbufs_len:
            return self._served
        # While a request is being answered nothing is read of the next one.
        return None if self.requests else self.request

    def _refuse_slow_request(self, seconds: float) -> None:
        with self.requests_lock:
            request, self.request = self.request, None
            if request is None:
                return
            request.error = Late(f"The request was not complete within {seconds:g} s.")
            request.completed = True
            self.requests.append(request)
            if len(self.requests) == 1:
                self.server.add_task(self)


Front.channel_class = Connection


class Request(HTTPRequestParser):  # type: ignore[misc]  # it has no types
    """A request as it arrives."""

    def __init__(self, adj: Adjustments, *, kept: int) -> None:
        """Take how many bytes of a body are kept."""
        super().__init__(adj)
        self.hold: Hold | None = None
        self._kept = kept

    def parse_header(self, header_plus: bytes) -> None:
        """See the base."""
        super().parse_header(header_plus)
        if self.body_rcv is not None:
            self.body_rcv.buf = Body(self.adj.inbuf_overflow, self._kept)


class Body(OverflowableBuffer):  # type: ignore[misc]  # it has no types
    """The bytes of a body, up to a number; of a body with more, their number is all that counts."""

    def __init__(self, overflow: int, kept: int) -> None:
        super().__init__(overflow)
        self._kept = kept
        self._received = 0

    def __len__(self) -> int:
        return self._received

    def append(self, data: bytes) -> None:
        """Take what has come."""
        self._received += len(data)
        if self._received <= self._kept:
            super().append(data)


class Late(RequestEntityTooLarge):  # type: ignore[misc]  # it has no types
    """The client took too long."""

    code = 408
    reason = "Request Timeout"


class Lanes:
    """The threads that answer requests, and one for the paths that are to be answered whatever they do."""

    def __init__(self, threads: int, paths_apart: Iterable[str]) -> None:
        self._paths_apart = frozenset(paths_apart)
        self._common, self._apart = ThreadedTaskDispatcher(), ThreadedTaskDispatcher()
        self._common.set_thread_count(threads)
        self._apart.set_thread_count(1)

    def add_task(self, connection: Connection) -> None:
        """Have the first of the requests on a connection answered."""
        connection.asked_at = time.monotonic()
        path = getattr(connection.requests[0], "path", None)  # no path: its header is not complete
        (self._apart if path in self._paths_apart else self._common).add_task(connection)

    def shutdown(self) -> None:
        """Drop what has not begun."""
        for lane in (self._common, self._apart):
            lane.shutdown(timeout=1)


def listen(host: str, port: int, *, shared: bool) -> socket.socket:
    """Return a socket that listens; ``shared`` lets other processes listen on the same port too.

    Raises:
        OSError: the address cannot be had.
    """
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    every_interface = family == socket.AF_INET6 and host == "::"
    return socket.create_server(
        address, family=family, backlog=1024, reuse_port=shared, dualstack_ipv6=every_interface
    )
