# SPDX-License-Identifier: Apache-2.0
"""What is counted in a process is what its database says, on each of them."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db import surveys
from heatconv.db.plumbing.session import Undo, writing
from heatconv.db.plumbing.types import seconds_ago
from heatconv.db.tables import event, resource, service, stack, stack_observed, sync_point
from heatconv.engine.survey import Surveyor
from heatconv.metrics import declared, instruments
from heatconv.metrics.declared import TAKEOVERS
from heatconv.metrics.transactions import count_with_commit
from heatconv.testing.templates import Template, thing

PAIR = Template(A=thing("a"), B=thing("b", uses=["A"]))
HOUR = 3600.0


class Growth:
    """How much metrics have grown since this began."""

    def __init__(self):
        self._before = self._now()

    def of(self, metric, **labels):
        before, now = self._before, self._now()
        return sum(
            value - before.get(key, 0)
            for key, value in now.items()
            if key[0] == metric and labels.items() <= dict(key[1]).items()
        )

    @staticmethod
    def _now():
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in instruments.switch_on(declared.ALL).collect()
            for sample in family.samples
        }


@pytest.fixture
def growth(world):
    return Growth()


def set_back(world, table, **columns):
    """Let something have begun some seconds earlier than it has."""
    with world.database.engine.begin() as connection:
        connection.execute(
            sa.update(table).values(**{k: seconds_ago(sa.literal(v)) for k, v in columns.items()})
        )


def test_traversals_and_actions_are_as_many_as_their_events(world, growth):
    world.create(PAIR)
    world.run()
    world.update(PAIR.but(A=thing("other")))
    world.run()
    world.delete()
    world.run()

    said = Counter((each.resource_id is None, each.action, each.status) for each in world.select(event))
    for action in ("CREATE", "UPDATE", "DELETE"):
        for status, outcome in (("IN_PROGRESS", "begun"), ("COMPLETE", "complete"), ("FAILED", "failed")):
            counted = growth.of("heatconv_traversals_total", action=action, outcome=outcome)
            assert counted == said[True, action, status], (action, outcome)
            if outcome != "begun":
                counted = growth.of("heatconv_resource_actions_total", action=action, outcome=outcome)
                assert counted == said[False, action, status], (action, outcome)
    assert said[False, "CREATE", "COMPLETE"] == 2


def test_what_two_workers_have_begun_ends_once(world, growth):
    world.create(PAIR)
    world.cloud.latency["create"] = 3
    world.check("A+")
    paused, world.worker = world.worker, world.new_worker()
    with world.database.engine.begin() as connection:  # as recovery does
        connection.execute(sa.update(resource).values(engine_id=None, atomic_key=resource.c.atomic_key + 1))
    world.check("A+")
    world.run()
    assert world.state == "CREATE_COMPLETE"

    while paused.come_back():
        pass

    assert growth.of("heatconv_resource_actions_total", action="CREATE", outcome="complete") == 2
    assert growth.of("heatconv_resource_actions_resumed_total", action="CREATE") == 1


def test_drift_is_counted_when_it_is_news(world, growth):
    world.create(PAIR)
    world.run()
    world.cloud.meddle(world.object_of("A"), {"value": "drifted"})
    world.cloud.vanish(world.object_of("B"))
    for _ in range(2):
        world.observe()
    assert growth.of("heatconv_drift_total", finding="changed") == 1
    assert growth.of("heatconv_drift_total", finding="missing") == 1
    assert growth.of("heatconv_observations_total", outcome="seen") == 4

    world.cloud.meddle(world.object_of("A"), {"value": "a"})
    world.observe()

    assert growth.of("heatconv_drift_total", finding="in_sync") == 1
    assert growth.of("heatconv_drift_total") == 3


def test_a_transaction_that_is_undone_counts_as_that_and_nothing_that_it_has_written(world, growth):
    @writing
    def write(_connection, error):
        count_with_commit(TAKEOVERS)
        raise error

    assert write(world.database, Undo("result")) == "result"
    with pytest.raises(errors.Invalid):
        write(world.database, errors.Invalid(problems=[("a", "b")]))

    assert growth.of("heatconv_takeovers_total") == 0
    assert growth.of("heatconv_database_transactions_total", kind="write", outcome="undone") == 2
    assert growth.of("heatconv_database_transactions_total", outcome="error") == 0


def test_a_statement_that_the_database_refuses_counts_as_an_error(world, growth):
    @writing
    def write(connection):
        connection.execute(sa.text("SELECT no_such_column FROM stack"))

    with pytest.raises(errors.StorageError):
        write(world.database)

    assert growth.of("heatconv_database_transactions_total", kind="write", outcome="error") == 1


def test_where_there_is_nothing_nothing_is_old(world):
    found = surveys.make(world.database, dead_after=HOUR)

    assert (found.ready, found.traversal, found.action, found.observation, found.backlog) == (0, 0, 0, 0, 0)


def test_a_survey_has_the_age_of_the_oldest(world):
    world.create(PAIR.but(C=thing("c")))
    world.cloud.latency["create"] = 5
    world.check("A+")
    world.observe()
    set_back(world, sync_point, ready_at=100.0)
    set_back(world, stack, created_at=2000.0, updated_at=200.0)
    set_back(world, resource, created_at=3000.0, updated_at=300.0)
    set_back(world, stack_observed, due_at=400.0)

    found = surveys.make(world.database, dead_after=HOUR)

    ages = [found.ready, found.traversal, found.action, found.observation]
    assert [int(age) // 100 for age in ages] == [1, 2, 3, 4]


def test_a_node_in_the_hands_of_a_worker_waits_for_none(world):
    world.create(PAIR.but(C=thing("c")))
    world.cloud.latency["create"] = 5
    world.check("A+")
    set_back(world, sync_point, ready_at=100.0)
    of_a = sync_point.c.acts_on == world.row("A").id
    with world.database.engine.begin() as connection:
        connection.execute(sa.update(sync_point).where(of_a).values(ready_at=seconds_ago(sa.literal(900.0))))

    assert int(surveys.make(world.database, dead_after=HOUR).ready) // 100 == 1

    world.check("C+")
    assert surveys.make(world.database, dead_after=HOUR).ready == 0


def test_a_survey_counts_daemons_and_what_waits_in_those_that_are_alive(world):
    before = surveys.make(world.database, dead_after=HOUR)
    with world.database.engine.begin() as connection:
        for number, (host, binary, seen, backlog) in enumerate(
            [
                ("here", "heatconv-worker", 0.0, 3),
                ("there", "heatconv-worker", 2 * HOUR, 70),
                ("here", "heatconv-worker", 3 * HOUR, 700),  # the first has taken its place
                ("here", "heatconv-engine", 0.0, 4),
            ]
        ):
            connection.execute(
                sa.insert(service).values(
                    engine_id=f"daemon-{number}",
                    host=host,
                    binary=binary,
                    topic="t",
                    report_interval=1,
                    backlog=backlog,
                    created_at=seconds_ago(sa.literal(seen)),
                    updated_at=seconds_ago(sa.literal(seen)),
                )
            )

    found = surveys.make(world.database, dead_after=HOUR)

    new = Counter(found.daemons) - Counter(before.daemons)
    assert new == {
        ("heatconv-worker", True): 1,
        ("heatconv-worker", False): 1,
        ("heatconv-engine", True): 1,
    }
    assert found.backlog - before.backlog == 7


def test_what_cannot_be_known_any_more_is_not_shown(world, monkeypatch):
    surveyor = Surveyor(world.database, dead_after=HOUR)
    shown = "heatconv_oldest_ready_seconds"
    surveyor.survey()
    assert instruments.switch_on(declared.ALL).get_sample_value(shown) == 0

    def away(*_arguments, **_options):
        raise errors.StorageError(reason="it is away")

    monkeypatch.setattr(surveys, "make", away)
    with pytest.raises(errors.StorageError):
        surveyor.survey()

    assert instruments.switch_on(declared.ALL).get_sample_value(shown) is None
