# SPDX-License-Identifier: Apache-2.0
"""Nothing is skipped, though events are seen in another order than that of their numbers; engines abreast."""

from __future__ import annotations

import threading
from functools import partial
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from heatconv.db.delivery import sinks
from heatconv.db.delivery.events import add_stack_event
from heatconv.db.plumbing.types import in_seconds, seconds_ago
from heatconv.db.tables import event, event_sink
from heatconv.model.states import Action, Status
from heatconv.sinks import stillness
from heatconv.testing.templates import Template, thing
from tests.functional.core.test_recovery_cost import statements
from tests.functional.core.world import CONTEXT, at_once
from tests.functional.sinks.receiver import take

ONE = Template(A=thing("a"))
SERVERS = pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])
MANY = 1000


def hook(receiver, **keys):
    return {"type": "webhook", "target": receiver.url, **keys}


@pytest.fixture
def web(world, receiver):
    """Return a world whose stack is there, and whose events are delivered."""
    world.create_with(ONE, [hook(receiver)])
    world.run()
    world.deliver()
    assert receiver.taken == world.events()
    return world


def add_event(connection, world, reason):
    add_stack_event(
        connection,
        stack_id=world.stack_id,
        name=reason,
        action=Action.CHECK,
        status=Status.COMPLETE,
        reason="",
    )


def newest(world):
    [(number,)] = world.query(sa.select(sa.func.max(event.c.id)))
    return number


@SERVERS
def test_an_event_that_is_committed_after_one_with_a_larger_number_was_sent_is_sent(web, receiver):
    with web.database.engine.connect() as slow, web.database.engine.connect() as quick:
        add_event(slow, web, "first")
        add_event(quick, web, "second")
        quick.commit()
        web.deliver()
        assert receiver.taken[-1] == "second CHECK_COMPLETE"
        assert web.sinks()[0].cursor < newest(web) - 1

        slow.commit()
        web.deliver()

    assert sorted(receiver.taken) == sorted(web.events())
    assert receiver.taken[-1] == "first CHECK_COMPLETE"


@SERVERS
def test_the_cursor_is_moved_no_further_than_what_was_not_sent_yet(web, receiver):
    with web.database.engine.connect() as slow, web.database.engine.connect() as quick:
        add_event(slow, web, "first")
        add_event(quick, web, "second")
        quick.commit()
        web.deliver()
        slow.commit()
    receiver.answer = lambda handler: handler.give(503)
    web.time_passes()
    web.deliver()
    assert web.noted() == 1  # the second
    receiver.answer = take
    web.time_passes()
    web.deliver()

    assert sorted(receiver.taken) == sorted(web.events())
    assert web.noted() == 0
    assert web.sinks()[0].cursor == newest(web)


def test_what_was_sent_is_noted_one_by_one_no_longer_than_need_be(web, receiver):
    assert web.noted() == len(receiver.taken)
    web.time_passes()
    web.deliver()

    assert web.noted() == 0
    assert web.sinks()[0].cursor == newest(web)
    web.delete()
    web.run()
    web.deliver()
    assert receiver.taken == web.events()


def test_engines_abreast_send_each_event_once(world, receiver):
    for number in range(12):
        source = {"template": ONE.hot(), "environment": {"event_sinks": [hook(receiver)]}}
        world.engine.create_stack(CONTEXT, f"web{number}", source, {})
    world.run()

    engines = [world.new_delivery(threads=3) for _ in range(3)]
    at_once(*(partial(world.finish, engine) for engine in engines))
    for engine in engines:
        engine.stop()
    world.deliver()

    uuids = {row.uuid for row in world.select(event)}
    assert len(receiver.ids) == len(uuids)
    assert set(receiver.ids) == uuids


def test_who_comes_back_late_changes_nothing_and_who_took_over_sends_again(web, receiver):
    web.delete()
    delivery, other = web.new_delivery(), web.new_delivery()
    stuck, let_go = threading.Event(), threading.Event()

    def wait(handler):
        receiver.answer = take
        stuck.set()
        let_go.wait()
        handler.give(200)

    receiver.answer = wait
    delivery.tick()
    assert stuck.wait(60)
    web.time_passes()  # more than the lease
    web.run()
    web.finish(other)
    cursor, noted = web.sinks()[0].cursor, web.noted()
    let_go.set()
    delivery.stop()

    assert receiver.taken == web.events()
    assert receiver.tried.count("web DELETE_IN_PROGRESS") == 2
    assert (web.sinks()[0].cursor, web.noted()) == (cursor, noted)


def test_a_turn_is_one_engines(web):
    web.delete()
    due = sinks.due(web.database, limit=10, everywhere=False)

    taken = at_once(*(lambda: sinks.take(web.database, due, lease=60) for _ in range(5)))

    assert sorted(map(len, taken)) == [0, 0, 0, 0, 1]


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1e6)
    monkeypatch.setattr(stillness, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def settle(web, delivery, clock):
    """Let an engine look at the sinks when nothing can be on its way any more."""
    web.finish(delivery)
    clock.now += sinks.OPEN + 1
    web.finish(delivery)


@pytest.fixture
def settled(web, clock):
    delivery = web.new_delivery()
    settle(web, delivery, clock)
    return delivery


def test_a_thousand_idle_sinks_cost_one_statement_that_looks_at_none(web, receiver, settled):
    [row] = web.sinks()
    with web.database.engine.begin() as connection:
        for number in range(MANY):
            sinks.keep(connection, f"stack-{number}", [row.spec])
    with statements(settled._database.engine) as sent:
        settled.tick()

    assert len(sent) == 1
    assert "max(event.id)" in sent[0]
    assert receiver.taken == web.events()


def test_after_a_still_time_an_event_is_delivered_at_once(web, receiver, settled):
    web.delete()
    web.run()
    web.finish(settled)

    assert receiver.taken == web.events()


def test_after_a_still_time_a_sink_is_tried_again_as_soon_as_it_is_due(web, receiver, settled, clock):
    web.delete()
    web.run()
    with web.database.engine.begin() as connection:
        connection.execute(sa.update(event_sink).values(due_at=in_seconds(3600)))
    settle(web, settled, clock)
    assert receiver.taken != web.events()

    with web.database.engine.begin() as connection:
        connection.execute(sa.update(event_sink).values(due_at=seconds_ago(1)))
    web.finish(settled)

    assert receiver.taken == web.events()


def test_a_stack_without_sinks_costs_what_it_did(world):
    with statements(world.database.engine) as sent:
        world.create(ONE)
        world.run()
        world.delete()
        world.run()

    assert [each for each in sent if "event_s" in each] == []
