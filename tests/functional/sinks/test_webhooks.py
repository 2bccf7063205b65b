# SPDX-License-Identifier: Apache-2.0
"""The events of a stack reach its webhook, all of them and in order, whatever the other side does."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress

import pytest
import sqlalchemy as sa

from heatconv.db.delivery.sinks import KEPT
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import event_sink
from heatconv.sinks import delivery
from heatconv.sinks.delivery import MAX_PAUSE
from heatconv.testing.templates import Template, thing
from tests.functional.sinks.receiver import Receiver, take

CHAIN = Template(A=thing("a"), C=thing("c", uses=["A"]))
ONE = Template(A=thing("a"))
SQLITE = pytest.mark.parametrize("database_kind", ["sqlite"])


def hook(receiver, **keys):
    return {"type": "webhook", "target": receiver.url, **keys}


def answer(status, **headers):
    return lambda handler: handler.give(status, **headers)


def test_a_life_is_told_from_beginning_to_end(world, receiver):
    receiver.secret = "a secret of one's own"
    world.create_with(CHAIN, [hook(receiver, secret=receiver.secret)])
    world.deliver()
    assert receiver.taken == ["web CREATE_IN_PROGRESS"]

    world.run()
    world.deliver()
    world.delete()
    world.run()
    world.deliver()

    assert receiver.taken == world.events()
    assert receiver.taken[-1] == "web DELETE_COMPLETE"
    assert len(set(receiver.ids)) == len(receiver.ids)


@SQLITE
def test_an_event_is_told_as_heat_tells_it(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    world.run()
    world.deliver()

    body = receiver.bodies[receiver.taken.index("A CREATE_COMPLETE")]
    row = world.row("A")
    assert body.pop("timestamp").endswith("Z")
    assert body == {
        "version": "0.1",
        "type": "os.heat.event",
        "id": receiver.ids[receiver.taken.index("A CREATE_COMPLETE")],
        "payload": {
            "resource_name": "A",
            "physical_resource_id": row.physical_id,
            "stack_id": world.stack_id,
            "resource_action": "CREATE",
            "resource_status": "COMPLETE",
            "resource_status_reason": "state changed",
            "resource_type": "Fake::Cloud::Server",
            "resource_properties": body["payload"]["resource_properties"],
            "version": "0.1",
        },
    }
    assert body["payload"]["resource_properties"]["value"] == "a"


@SQLITE
def test_who_has_no_secret_gets_what_the_operator_signs_with_or_nothing(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    world.deliver()
    assert "X-Heatconv-Signature" not in receiver.headers[0]

    receiver.secret = "the operator's"
    world.allow("http://127.0.0.1", ports=[receiver.port], secret=receiver.secret)
    world.run()
    world.deliver()

    assert receiver.taken == world.events()


def test_what_is_not_taken_comes_again_until_it_is(world, receiver, monkeypatch):
    monkeypatch.setattr(delivery, "FIRST_PAUSE", MAX_PAUSE)  # longer than a machine under load takes
    world.create_with(CHAIN, [hook(receiver)])
    world.run()
    receiver.answer = answer(503)
    for _ in range(3):
        world.deliver()
        world.deliver()  # it is not due
        world.time_passes()

    assert receiver.tried == ["web CREATE_IN_PROGRESS"] * 3
    receiver.answer = take
    world.deliver()

    assert receiver.taken == world.events()
    assert world.sinks()[0].attempts == 0


@SQLITE
def test_who_never_answers_is_asked_less_and_less_often_but_for_ever(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    receiver.answer = answer(500)
    pauses = []
    for _ in range(14):
        world.deliver()
        [sink] = world.sinks()
        [(now,)] = world.query(sa.select(utcnow()))
        pauses.append((sink.due_at - now).total_seconds())
        world.time_passes()

    assert len(receiver.tried) == 14
    assert pauses[0] < 3 < pauses[5]
    assert MAX_PAUSE / 2 - 2 < pauses[-1] <= MAX_PAUSE
    assert max(pauses) <= MAX_PAUSE


def test_a_receiver_that_is_gone_finds_everything_when_it_is_back(world, receiver):
    with Receiver() as other:
        port = other.port
        world.allow("http://127.0.0.1", ports=[port])
        world.create_with(CHAIN, [hook(other)])
        world.deliver()
    world.run()
    world.deliver()
    world.time_passes()

    with Receiver(port) as back:
        world.deliver()
        assert other.taken + back.taken == world.events()


@SQLITE
def test_a_receiver_that_answers_in_drops_is_hung_up_on(world, receiver):
    world.allow("http://127.0.0.1", ports=[receiver.port], timeout=0.5)
    world.create_with(ONE, [hook(receiver)])
    done = threading.Event()

    def drop(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not done.wait(0.1):  # far more often than a socket's timeout
            handler.wfile.write(b".")

    receiver.answer = drop
    try:
        world.deliver()
    finally:
        done.set()
    assert world.sinks()[0].attempts == 1

    receiver.answer = take
    world.time_passes()
    world.run()
    world.deliver()
    assert receiver.taken == world.events()


@SQLITE
def test_of_an_endless_answer_little_is_read(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    world.run()

    def pour(handler):
        receiver.taken.append(receiver.tried[-1])
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65536)  # until the other side hangs up

    receiver.answer = pour
    world.deliver()

    assert receiver.taken == world.events()


@SQLITE
def test_a_redirect_is_not_followed(world, receiver):
    with Receiver() as inner:
        world.create_with(ONE, [hook(receiver)])
        receiver.answer = answer(307, Location=inner.url)
        world.deliver()

        assert receiver.tried == ["web CREATE_IN_PROGRESS"]
        assert inner.tried == []
    assert world.sinks()[0].attempts == 1


@SQLITE
def test_what_the_operator_allows_no_longer_is_not_sent(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    world.allow("http://127.0.0.1", ports=[1])
    world.run()
    world.deliver()
    assert receiver.tried == []

    world.allow("http://127.0.0.1", ports=[receiver.port])
    world.time_passes()
    world.deliver()
    assert receiver.taken == world.events()


@SQLITE
def test_slow_receivers_do_not_hold_up_the_others(world, receiver):
    let_go = threading.Event()
    with Receiver() as slow:
        world.allow("http://127.0.0.1", ports=[receiver.port, slow.port], timeout=60)

        def wait(handler):
            let_go.wait()
            take(handler)

        slow.answer = wait
        world.create_with(ONE, [hook(slow), hook(receiver)])
        delivery = world.new_delivery()
        try:
            delivery.tick()
            receiver.wait_for("web CREATE_IN_PROGRESS")
            slow.wait_for("web CREATE_IN_PROGRESS")
            world.run()
            while "web CREATE_COMPLETE" not in receiver.tried:
                delivery.tick()  # as an engine does, again and again: the sink's last turn may not have ended
                with suppress(queue.Empty):
                    receiver.came.get(timeout=0.1)
            assert len(slow.tried) == 1
        finally:
            let_go.set()
        delivery.stop()
    assert receiver.taken == world.events()


# -- which sinks there are ---------------------------------------------------------------------------


def test_an_update_says_where_events_go_from_then_on(world, receiver):
    with Receiver() as new:
        world.allow("http://127.0.0.1", ports=[receiver.port, new.port])
        world.create_with(ONE, [hook(receiver)])
        world.run()
        before = world.events()

        world.update_with(CHAIN, [hook(new)])
        world.run()
        world.deliver()

        assert receiver.taken == before
        assert new.taken == world.events()[len(before) :]
        world.time_passes()
        world.deliver()
        assert len(world.sinks()) == 1


def test_a_sink_that_comes_back_has_missed_nothing(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    world.run()
    world.update_with(CHAIN, [])
    world.run()
    world.update_with(ONE, [hook(receiver)])
    world.run()
    world.deliver()

    assert receiver.taken == world.events()


def test_a_create_that_is_rolled_back_is_told_to_its_end(world, receiver):
    world.create_with(ONE, [hook(receiver)], rollback=True)
    world.roll_back()
    world.run()
    world.deliver()

    assert world.state == "ROLLBACK_COMPLETE"
    assert receiver.taken == world.events()


def test_a_rollback_brings_back_the_sinks_of_its_environment(world, receiver):
    with Receiver() as other:
        world.allow("http://127.0.0.1", ports=[receiver.port, other.port])
        world.create_with(ONE, [hook(receiver)])
        world.run()
        world.update_with(CHAIN, [hook(other)])
        world.roll_back()
        world.run()
        world.deliver()

        assert receiver.taken == world.events()
        assert other.taken == ["web UPDATE_IN_PROGRESS"]


def test_when_a_stack_is_gone_and_all_is_told_so_is_its_sink(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    world.run()
    world.delete()
    world.run()
    receiver.answer = answer(500)
    world.deliver()
    world.time_passes()
    world.deliver()
    assert len(world.sinks()) == 1

    receiver.answer = take
    world.time_passes()
    world.deliver()

    assert receiver.taken == world.events()
    assert world.sinks() == []
    assert world.noted() == 0


def test_a_sink_of_a_stack_that_was_deleted_long_ago_is_given_up(world, receiver):
    world.create_with(ONE, [hook(receiver)])
    world.run()
    world.delete()
    world.run()
    receiver.answer = answer(500)
    world.deliver()
    world.time_passes(KEPT / 2)
    world.deliver()
    assert len(world.sinks()) == 1

    world.time_passes(KEPT)
    world.deliver()

    assert world.sinks() == []
    assert world.noted() == 0


@SQLITE
def test_the_same_sink_twice_is_one(world, receiver):
    world.create_with(ONE, [hook(receiver), hook(receiver)])
    world.run()
    world.deliver()

    assert receiver.taken == world.events()
    assert len(world.select(event_sink)) == 1
