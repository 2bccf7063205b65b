# SPDX-License-Identifier: Apache-2.0
"""What the server's loop does while a thread writes an answer."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, suppress

import pytest

from heatconv.cmd.compose.front import GATHERED, Bounds, Front, listen

PATIENCE = 10  #: seconds in which a thread gets to where it is to be
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Slow:
    """An application whose answers have two parts, the second of which is not there before it is let go."""

    def __init__(self, size):
        self._part = b"x" * size
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, _environ, start_response):
        start_response("200 OK", [("Content-Length", str(2 * len(self._part)))])
        yield self._part
        self.has_begun.set()
        assert self.may_end.wait(PATIENCE)
        yield self._part


@pytest.fixture
def begin():
    """Return a function that has a server begin to answer with parts of a size."""
    with ExitStack() as until:

        def begin(size):
            application = Slow(size)
            bounds = Bounds(seconds=60, connections=10, connections_of_address=10, body=1000)
            front = Front(application, listen("127.0.0.1", 0, shared=False), 1, bounds)
            until.callback(front.serve)
            until.callback(front.stop)
            client = until.enter_context(socket.create_connection(front.socket.getsockname()))
            client.settimeout(PATIENCE)
            client.sendall(GET)
            while not application.has_begun.is_set():
                front.loop.turn(0.01)
            return application, front, client

        yield begin


def test_the_loop_has_nothing_to_do_until_an_answer_is_complete(begin):
    application, front, client = begin(10)
    front.loop.turn(0)
    assert front.loop._selector.select(0) == []

    application.may_end.set()
    answer = client.recv(GATHERED)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"\r\n\r\n" + b"x" * 20), "it comes as one"


def test_a_large_answer_is_not_kept_until_it_is_complete(begin):
    application, _, client = begin(GATHERED)
    assert client.recv(GATHERED).startswith(b"HTTP/1.1 200 OK")
    application.may_end.set()


def test_what_the_client_does_not_take_at_once_is_sent_by_the_loop(begin):
    size = 6 * GATHERED
    application, front, client = begin(size)
    application.may_end.set()
    received = 0
    client.setblocking(False)
    while received < 2 * size:
        front.loop.turn(0.01)
        with suppress(BlockingIOError):
            received += len(client.recv(GATHERED))


def test_who_is_refused_hears_it_at_once(begin):
    """What is no request is answered by waitress itself, and the connection is closed."""
    application, front, _ = begin(10)
    application.may_end.set()
    with socket.create_connection(front.socket.getsockname()) as client:
        client.settimeout(PATIENCE)
        client.sendall(b"GET\r\n\r\n")
        client.setblocking(False)
        received = b""
        while b"\r\n\r\n" not in received:
            front.loop.turn(PATIENCE)
            with suppress(BlockingIOError):
                received += client.recv(GATHERED)
    assert received.startswith(b"HTTP/1.0 400 Bad Request")
