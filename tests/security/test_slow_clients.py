# SPDX-License-Identifier: Apache-2.0
"""Somebody without a login opened as many connections as the API has threads, and sent requests byte by byte.

Nobody else was answered then, and the health check was not either: whatever looks at
it would have restarted the API again and again.
"""

from __future__ import annotations

import http.client
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from urllib.parse import urlsplit

import pytest

from heatconv.api.hosts import network
from heatconv.cmd.compose.front import Bounds, Front, listen
from tests.functional.servers.one_process import heatconv_all

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
PATIENCE = 8  #: seconds for an answer: less than a thread once waited for the next byte
UNFINISHED = {
    "headers": b"GET /v1/default/stacks HTTP/1.1\r\nHost: x\r\nX-Never: ",
    "body": b"POST /v1/default/stacks HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
    "chunks": b"POST /v1/default/stacks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{",
    "nothing": b"",
}


def send(address, data, until):
    connection = until.enter_context(socket.create_connection(address, timeout=PATIENCE))
    connection.sendall(data)
    return connection


def status(address, path):
    with closing(http.client.HTTPConnection(address[0], address[1], timeout=PATIENCE)) as client:
        client.request("GET", path)
        return client.getresponse().status


@pytest.fixture(scope="module")
def address(tmp_path_factory, cloud_url):
    """Where an API of 16 threads listens."""
    with heatconv_all(tmp_path_factory.mktemp("api"), cloud_url) as url:
        yield urlsplit(url).hostname, urlsplit(url).port


@pytest.mark.parametrize("unfinished", UNFINISHED.values(), ids=UNFINISHED)
def test_unfinished_requests_stop_nobody(address, unfinished):
    with ExitStack() as until:
        for _ in range(64):
            send(address, unfinished, until)

        assert status(address, "/healthcheck") == 200
        assert status(address, "/v1/default/stacks") == 200


def test_answers_that_nobody_takes_stop_nobody(address):
    """Each connection asks for far more than its buffers hold, and reads none of it."""
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100
    with ExitStack() as until:
        for _ in range(32):
            send(address, ask, until)

        assert status(address, "/healthcheck") == 200


def test_health_is_told_while_every_thread_waits_for_an_engine(run_daemons, fresh_database, rabbit_url):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=1,
        workers=0,
        options={"api": {"threads": 2}},
    )
    address = urlsplit(daemons.endpoint).hostname, urlsplit(daemons.endpoint).port
    daemons.processes["engine-1"].send(signal.SIGSTOP)
    with ExitStack() as until:
        for _ in range(4):
            send(address, b"GET /v1/default/stacks HTTP/1.1\r\nHost: x\r\n\r\n", until)

        assert status(address, "/healthcheck") == 200


@pytest.fixture
def serve():
    """Serve an application in this process: called with it and what bounds its clients."""
    with ExitStack() as until:

        def start(application, threads=2, **bounds):
            usual = {"seconds": 60, "connections": 100, "connections_of_address": 100, "body": 1000}
            listener = listen("127.0.0.1", 0, shared=False)
            address = listener.getsockname()
            front = Front(application, listener, threads, Bounds(**usual | bounds))
            serving = threading.Thread(target=front.serve)
            serving.start()
            until.callback(serving.join)
            until.callback(front.stop)
            return address

        yield start


def hello(_environ, start_response):
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]


def read_all(connection):
    """Return all that comes before the end; who sends to the last may meet with a reset."""
    found = b""
    with suppress(ConnectionResetError):
        while data := connection.recv(65536):
            found += data
    return found


@pytest.mark.parametrize("what", ["headers", "body", "chunks"])
def test_a_request_has_a_deadline_whatever_trickles_in(serve, what):
    address = serve(hello, seconds=0.5)
    answered = threading.Event()
    with ExitStack() as until, ThreadPoolExecutor() as pool:
        slow = send(address, UNFINISHED[what], until)

        def trickle():
            rest = iter(b"\r\n" if what == "chunks" else b"")
            with suppress(ConnectionError):  # what is sent after the answer may be refused
                while not answered.wait(0.02):
                    slow.sendall(bytes([next(rest, ord("1"))]))

        trickling = pool.submit(trickle)
        until.callback(trickling.result)
        until.callback(answered.set)
        answer = read_all(slow)

    assert b" 408 Request Timeout\r\n" in answer
    assert b"The request was not complete within 0.5 s." in answer


def test_an_answer_that_is_not_taken_ends_its_connection(serve):
    large = b"x" * (64 << 20)  # far beyond what the sockets and the server's buffers hold
    closed = threading.Event()

    class Watched(list):
        def close(self):
            closed.set()

    def answer(_environ, start_response):
        start_response("200 OK", [("Content-Length", str(len(large)))])
        return Watched([large])

    address = serve(answer, seconds=0.5)
    with ExitStack() as until:
        lazy = send(address, GET, until)
        assert closed.wait(PATIENCE)
        assert len(read_all(lazy)) < len(large)


def test_an_idle_connection_is_closed(serve):
    address = serve(hello, seconds=0.5)
    with ExitStack() as until:
        idle = send(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", until)

        assert read_all(idle).endswith(b"hello")


def test_who_has_too_many_connections_loses_the_ones_without_requests(serve):
    address = serve(hello, connections_of_address=5)
    with ExitStack() as until:
        first = [send(address, UNFINISHED["headers"], until) for _ in range(5)]

        for number in range(5):
            later = send(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", until)
            answer = http.client.HTTPResponse(later)
            answer.begin()

            assert answer.read() == b"hello"
            assert first[number].recv(65536) == b""


def test_a_request_that_is_being_answered_is_not_given_up_for_another(serve):
    begun, go_on = threading.Semaphore(0), threading.Event()

    def wait(environ, start_response):
        begun.release()
        go_on.wait(PATIENCE)
        return hello(environ, start_response)

    address = serve(wait, connections_of_address=2)
    with ExitStack() as until:
        until.callback(go_on.set)
        kept = [send(address, GET, until) for _ in range(2)]
        for _ in kept:
            assert begun.acquire(timeout=PATIENCE)

        assert send(address, b"", until).recv(1) == b""

        go_on.set()
        for each in kept:
            assert read_all(each).endswith(b"hello")


def test_where_all_have_too_many_the_one_with_most_loses(serve):
    address = serve(hello, connections=4)
    with ExitStack() as until:
        # Linux has all of 127/8.
        def connect(source):
            return until.enter_context(socket.create_connection(address, PATIENCE, (source, 0)))

        many = [connect("127.0.0.2") for _ in range(3)]
        few = connect("127.0.0.3")

        for number in range(2):
            other = connect("127.0.0.4")
            assert many[number].recv(1) == b""

        for each in (many[2], few, other):
            each.sendall(GET)
            assert read_all(each).endswith(b"hello")


def test_of_a_body_that_is_too_large_nothing_is_kept(serve):
    read = []

    def take(environ, start_response):
        read.append((environ["CONTENT_LENGTH"], len(environ["wsgi.input"].read())))
        return hello(environ, start_response)

    address = serve(take, body=1000)
    with ExitStack() as until:
        for size, chunked in ((1000, False), (500_000, False), (500_000, True)):
            head = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
            body = b"x" * size
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (size, body) if chunked else body
            data = f"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n\r\n".encode() + body

            assert read_all(send(address, data, until)).endswith(b"hello")

    assert read[0] == ("1000", 1000)
    assert [(length, kept <= 65536) for length, kept in read[1:]] == [("500000", True)] * 2


def test_headers_without_end_are_refused(serve):
    address = serve(hello)
    with ExitStack() as until:
        endless = send(address, b"GET / HTTP/1.1\r\nX-Never: " + b"x" * 100_000, until)

        assert b" 431 " in read_all(endless)


def test_what_runs_when_it_is_stopped_is_answered():
    begun, go_on = threading.Event(), threading.Event()

    def wait(environ, start_response):
        begun.set()
        go_on.wait(PATIENCE)
        return hello(environ, start_response)

    listener = listen("127.0.0.1", 0, shared=False)
    address = listener.getsockname()
    bounds = Bounds(seconds=60, connections=10, connections_of_address=10, body=1000)
    front = Front(wait, listener, 1, bounds)
    serving = threading.Thread(target=front.serve)
    serving.start()
    with ExitStack() as until:
        asking = send(address, GET, until)
        assert begun.wait(PATIENCE)
        front.stop()
        go_on.set()

        assert read_all(asking).endswith(b"hello")
    serving.join(PATIENCE)
    assert not serving.is_alive()


@pytest.mark.parametrize(
    ("address", "whose"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_whose_an_address_is(address, whose):
    assert network(address) == whose
