# SPDX-License-Identifier: Apache-2.0
"""The server of the API holds requests, with no thread for any of them."""

from __future__ import annotations

import http.client
import os
import socket
import threading
from contextlib import ExitStack, closing, contextmanager

import pytest

from heatconv.api.watch import HOLD
from heatconv.cmd.compose.front import Bounds, Front, listen

PATIENCE = 10  #: seconds in which something happens that is to happen


class Application:
    """Holds requests for /held until they are ended."""

    def __init__(self):
        self.held = []
        self.refused = 0
        self.changed = threading.Condition()
        self.news = b"nothing"

    def __call__(self, environ, start_response):
        if environ["PATH_INFO"] == "/held" and self.news == b"nothing":
            hold = environ[HOLD]
            begun = hold.try_begin()
            with self.changed:
                if begun:
                    self.held.append(hold)
                else:
                    self.refused += 1
                self.changed.notify_all()
            start_response("304 Not Modified", [])
            return []
        start_response("200 OK", [("Content-Length", str(len(self.news)))])
        return [self.news]

    def until(self, number):
        """Wait until so many requests have been held."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.held) >= number, PATIENCE)


@pytest.fixture
def application():
    return Application()


@contextmanager
def served(application):
    """Have an application served, and the server ended."""
    bounds = Bounds(seconds=60, connections=40, connections_of_address=20, body=1000)
    front = Front(application, listen("127.0.0.1", 0, shared=False), 1, bounds)
    serving = threading.Thread(target=front.serve)
    serving.start()
    yield front
    front.stop()
    serving.join(PATIENCE)
    assert not serving.is_alive()


@pytest.fixture
def front(application):
    with served(application) as front:
        yield front


@pytest.fixture
def send(front):
    """Return a function that sends a request and returns its connection."""
    with ExitStack() as until:

        def send(path, source="127.0.0.1"):
            connection = socket.create_connection(front.socket.getsockname(), PATIENCE, (source, 0))
            until.callback(connection.close)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            return connection

        yield send


def answer(connection):
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, response.read()


def test_held_requests_leave_the_only_thread_to_others(application, send):
    held = [send("/held") for _ in range(10)]
    application.until(10)
    assert answer(send("/other")) == (200, b"nothing")

    application.news = b"something"
    for hold in application.held:
        hold.end()
    assert [answer(each) for each in held] == [(200, b"something")] * 10


def test_a_request_that_was_ended_while_it_was_to_be_held_is_answered(application, send):
    """Whoever ends it may be faster than the thread that leaves it."""

    class Hasty(list):
        def append(self, hold):
            super().append(hold)
            if len(self) < 3:
                hold.end()

    application.held = Hasty()
    connection = send("/held")
    application.until(3)
    application.news = b"something"
    application.held[-1].end()
    assert answer(connection) == (200, b"something")


def test_who_ends_it_twice_has_it_answered_once(application, send):
    connection = send("/held")
    application.until(1)
    application.news = b"something"
    for _ in range(2):
        application.held[0].end()
    assert answer(connection) == (200, b"something")
    connection.sendall(b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer(connection) == (200, b"something")


def test_who_ends_it_gets_to_know_when_there_is_an_answer(application, send):
    """Be it that the request is held again."""
    connection = send("/held")
    application.until(1)
    known = threading.Semaphore(0)
    application.held[0].end(known.release)
    assert known.acquire(timeout=PATIENCE)
    application.until(2)

    application.news = b"something"
    application.held[1].end(known.release)
    assert answer(connection) == (200, b"something")
    assert known.acquire(timeout=PATIENCE)
    assert not known.acquire(blocking=False)


def test_a_connection_stays_after_an_answer_without_a_body(application, front, send):
    connection = send("/held")
    application.until(1)
    front.holds.close()
    assert answer(connection) == (304, b"")
    connection.sendall(b"GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer(connection) == (200, b"nothing")
    assert connection.recv(1) == b""


def test_what_is_asked_after_a_request_that_is_held_is_answered_after_it(application, send):
    connection = send("/held")
    application.until(1)
    connection.sendall(b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
    application.news = b"something"
    application.held[0].end()
    answers = b""  # which may come in one piece, so that one who reads the first has the second, too
    while answers.count(b"something") < 2:
        received = connection.recv(1000)
        assert received
        answers += received
    assert answers.count(b"HTTP/1.1 200 OK") == 2


def test_a_client_that_has_gone_is_seen_and_leaves_its_place(application, front, send):
    gone = [send("/held") for _ in range(10)]  # as many as may be held of an address
    application.until(10)
    for connection in gone:
        connection.close()
    waits = threading.Event()
    while not all(hold.is_in_vain for hold in application.held):
        waits.wait(0.01)
    for hold in tuple(application.held):
        hold.end()
    assert answer(send("/other")) == (200, b"nothing")
    send("/held")
    application.until(11)
    assert application.refused == 0


def test_half_of_the_connections_are_for_others(application, front, send):
    for number, source in enumerate(("127.0.0.2", "127.0.0.3"), start=1):
        for _ in range(10):
            send("/held", source)
        application.until(10 * number)
        assert answer(send("/held", source))[0] == 304
    assert answer(send("/held", "127.0.0.4"))[0] == 304
    assert application.refused == 3
    with closing(send("/other", "127.0.0.2")) as other:
        assert answer(other) == (200, b"nothing")


def test_a_server_that_stops_answers_what_it_holds(application, front, send):
    held = [send("/held") for _ in range(5)]
    application.until(5)
    front.stop()
    assert [answer(each) for each in held] == [(304, b"")] * 5
    assert application.refused == 5


def test_who_wakes_a_server_that_has_ended_writes_to_no_file_of_others(application):
    """A thread that is still at an answer, or that asks it to stop, may be late."""
    with served(application) as front:
        pass
    with ExitStack() as until:
        pipes = [os.pipe() for _ in range(3)]  # which get the numbers that the server's had
        for end in (end for pipe in pipes for end in pipe):
            until.callback(os.close, end)
        front.pull_trigger()
        for reads, _ in pipes:
            os.set_blocking(reads, False)
            with pytest.raises(BlockingIOError):
                os.read(reads, 1)
