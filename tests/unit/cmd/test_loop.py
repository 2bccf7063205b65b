# SPDX-License-Identifier: Apache-2.0
"""A turn of the server's loop attends to what has happened, and leaves alone who waits."""

from __future__ import annotations

import socket
from collections import Counter
from contextlib import ExitStack

import pytest
from waitress import wasyncore

from heatconv.cmd.compose.loop import Loop

BRIEFLY = 0.0  #: seconds; nothing that is waited for has yet to happen


class File(wasyncore.dispatcher):  # type: ignore[misc]  # it has no types
    """One end of a connection, whose other end the test has."""

    def __init__(self, loop, end):
        self.asked = 0
        self.received = b""
        self.to_send = b""
        self.is_at_work = False
        super().__init__(end, map=loop)
        self.connected = True

    def readable(self):
        self.asked += 1
        return not self.is_at_work and not self.to_send

    def writable(self):
        return bool(self.to_send)

    def handle_read(self):
        self.received += self.recv(100)

    def handle_write(self):
        self.to_send = self.to_send[self.send(self.to_send) :]


@pytest.fixture
def loop():
    loop = Loop()
    yield loop
    loop.close()


@pytest.fixture
def connect(loop):
    """Return a function that makes a connection, and returns our file and the client's end."""
    with ExitStack() as until:

        def connect():
            ours, theirs = socket.socketpair()
            until.callback(theirs.close)
            theirs.settimeout(0.1)
            return File(loop, ours), theirs

        yield connect


def test_what_has_come_is_read_and_who_waits_is_not_asked_again(loop, connect):
    waiting = [connect()[0] for _ in range(20)]
    file, client = connect()
    loop.turn(BRIEFLY)
    for number in range(1, 4):
        client.sendall(b"x")
        loop.turn(BRIEFLY)
        assert file.received == b"x" * number
    assert Counter(each.asked for each in waiting) == {1: 20}


def test_what_a_thread_leaves_is_sent_and_then_it_is_read_from_again(loop, connect):
    file, client = connect()
    file.is_at_work = True
    loop.begin(file)
    loop.turn(BRIEFLY)
    client.sendall(b"early")
    loop.turn(BRIEFLY)
    assert file.received == b""

    file.to_send = b"answer"  # and the thread wakes the loop, while it is still there
    loop.turn(BRIEFLY)
    assert client.recv(100) == b"answer"
    file.is_at_work = False
    loop.end(file)
    loop.turn(BRIEFLY)
    assert file.received == b"early"


def test_who_sends_nothing_while_a_request_is_answered_is_listened_to_all_the_while(loop, connect):
    file, _ = connect()
    loop.turn(BRIEFLY)
    listening = dict(loop._selector.get_map())
    file.is_at_work = True
    loop.begin(file)
    loop.turn(BRIEFLY)
    assert dict(loop._selector.get_map()) == listening

    file.is_at_work = False
    loop.end(file)
    loop.turn(BRIEFLY)
    assert dict(loop._selector.get_map()) == listening


def test_who_sends_more_meanwhile_wakes_the_loop_once(loop, connect):
    file, client = connect()
    loop.turn(BRIEFLY)
    file.is_at_work = True
    loop.begin(file)
    client.sendall(b"early")
    loop.turn(BRIEFLY)
    assert loop._selector.select(BRIEFLY) == []
    assert file.received == b""

    file.is_at_work = False
    loop.end(file)
    loop.turn(BRIEFLY)
    assert file.received == b"early"


def test_the_next_thread_may_begin_before_the_last_one_has_ended(loop, connect):
    file, client = connect()
    loop.begin(file)
    loop.begin(file)
    loop.end(file)
    loop.turn(BRIEFLY)
    file.to_send = b"answer"
    loop.turn(BRIEFLY)
    assert client.recv(100) == b"answer"
    loop.end(file)
    loop.turn(BRIEFLY)
    asked = file.asked
    loop.turn(BRIEFLY)
    assert file.asked == asked, "no thread is at it any more"


def test_what_changes_for_another_reason_is_seen_when_it_is_looked_at(loop, connect):
    file, client = connect()
    loop.turn(BRIEFLY)
    file.to_send = b"late"
    loop.turn(BRIEFLY)
    with pytest.raises(TimeoutError):
        client.recv(100)
    loop.look_at([file])
    loop.turn(BRIEFLY)
    assert client.recv(100) == b"late"


def test_a_number_that_is_used_again_is_another_file(loop, connect):
    """As when a connection is closed to make room for one that has just come."""
    file, client = connect()
    loop.turn(BRIEFLY)
    client.sendall(b"to the first")
    number = file.socket.fileno()
    file.close()
    successor, client = connect()
    assert successor.socket.fileno() == number
    client.sendall(b"to the second")
    loop.turn(BRIEFLY)
    assert (file.received, successor.received) == (b"", b"to the second")


def test_a_file_that_is_closed_by_another_of_the_same_turn_is_left_alone(loop, connect):
    first, second = connect(), connect()

    def close_both():
        for file, _ in (first, second):
            file.close()

    for file, client in (first, second):
        file.handle_read = close_both
        client.sendall(b"x")
    loop.turn(BRIEFLY)
    assert not loop
    loop.turn(BRIEFLY)
