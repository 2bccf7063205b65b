# SPDX-License-Identifier: Apache-2.0
"""A project got past each quota by asking for many things at once.

Each request counted what was there before any of the others had written anything,
and all of them found room.  However many come at once, as many are made as there
may be: the others are told so, and what is asked again is never refused because
it was carried out already.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial

import pytest
import requests
import sqlalchemy as sa

from heatconv import errors
from heatconv.db.tables import plan, snapshot, software_config, software_deployment, stack
from heatconv.model.ids import new_id
from heatconv.resources.registry import Registry
from heatconv.rpc.asked import Asked
from heatconv.rpc.context import RequestContext
from tests.functional.core.world import at_once
from tests.security.several_engines import EMPTY, OURS, Engine, all_at_once

LIMIT, MANY = 4, 12
THEIRS = RequestContext(project_id="theirs")
ABANDONED = {"template": EMPTY, "environment": {}, "files": {}, "resources": {}}
SERVERS = pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])


def too_many(what, limit=LIMIT):
    return f"You have reached the maximum {what}, {limit}. Delete some, or have the limit raised."


@pytest.fixture(scope="module")
def registry():
    return Registry.load()


@pytest.fixture
def new_engine(database_url, registry):
    with ExitStack() as until:

        def new(quota=LIMIT):
            engine = Engine(database_url, registry, quota)
            until.callback(engine.database.close)
            return engine

        yield new


@pytest.fixture
def engines(new_engine):
    """Return engines; whatever they do, the database has nothing to say against it."""
    made = [new_engine() for _ in range(3)]
    yield made
    assert [failure for engine in made for failure in engine.failures] == []


@pytest.fixture
def engine(engines):
    return engines[0]


def living(engine, context=OURS):
    return engine.ids(stack, stack.c.live_name.is_not(None), stack.c.project_id == context.project_id)


# -- stacks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"adopt": ABANDONED}], ids=["create", "adopt"])
def test_of_many_stacks_as_many_are_made_as_there_may_be(engines, engine, options):
    def create(each, number):
        return each.create(f"web-{number}", **options)

    made = all_at_once(engines, create, MANY)

    assert len(made) == LIMIT
    assert living(engine) == set(made)
    with pytest.raises(errors.RequestLimitExceeded) as refused:
        create(engine, MANY)
    assert str(refused.value) == too_many("stacks per project")


def test_what_others_have_and_what_is_nested_does_not_count(engines, engine):
    put_inside(engine, engine.create("web"), LIMIT)

    def create(each, number):
        return each.create(f"web-{number}", (OURS, THEIRS)[number % 2])

    made = all_at_once(engines, create, 2 * MANY)

    assert len(made) == LIMIT - 1 + LIMIT
    assert len(living(engine, THEIRS)) == LIMIT
    assert len(living(engine)) == LIMIT + LIMIT


def put_inside(engine, stack_id, number):
    """Add so many stacks that are like one, but nested."""
    with engine.database.engine.begin() as connection:
        row = connection.execute(sa.select(stack).where(stack.c.id == stack_id)).one()._mapping
        for each in range(number):
            nested = {"id": new_id(), "live_name": f"in-{each}", "owner_resource_id": new_id()}
            connection.execute(sa.insert(stack).values({**row, **nested}))


def test_what_is_deleted_makes_room_for_as_many(engines, engine):
    made = all_at_once(engines, lambda each, number: each.create(f"web-{number}"), MANY)
    for stack_id in made[:2]:
        engine.lifecycle.delete_stack(OURS, stack_id)

    more = all_at_once(engines, lambda each, number: each.create(f"db-{number}"), MANY)

    assert len(more) == 2
    assert living(engine) == {*made[2:], *more}


def test_a_quota_that_was_lowered_takes_nothing_away(engines, new_engine):
    made = all_at_once(engines, lambda each, number: each.create(f"web-{number}"), MANY)
    strict = new_engine(1)

    with pytest.raises(errors.RequestLimitExceeded, match="maximum stacks per project, 1"):
        strict.create("another")
    strict.requests.update_stack(OURS, made[0], {"template": EMPTY}, {}, existing=False)

    assert living(strict) == set(made)


def _ask(ask, engine, number):
    return ask(engine, f"web-{number}")


def test_a_project_that_may_have_none_gets_none(new_engine):
    engines = [new_engine(0) for _ in range(3)]
    engine = engines[0]

    for ask in (Engine.create, Engine.add_config, Engine.deploy):
        assert all_at_once(engines, partial(_ask, ask), MANY) == []

    assert [failure for each in engines for failure in each.failures] == []
    assert living(engine) == engine.ids(software_config) == engine.ids(software_deployment) == set()


@SERVERS
def test_nobody_waits_for_a_stack_that_takes_long_to_be_written(engines):
    """It has written all but what it ends with when others come, and they are not held up by it."""
    large, *others = engines
    written, made = threading.Event(), threading.Event()

    def pause(_connection, _cursor, statement, *_rest):
        if "INSERT INTO event" in statement:
            written.set()
            assert made.wait(60)

    sa.event.listen(large.database.engine, "after_cursor_execute", pause)

    def create_others():
        assert written.wait(60)
        names = [each.create(f"web-{number}") for number, each in enumerate(others)]
        made.set()
        return names

    (first, more) = at_once(partial(large.create, "large"), create_others)

    assert living(large) == {first, *more}


# -- plans --------------------------------------------------------------------------------------------


def test_of_many_plans_as_many_are_made_as_there_may_be(engines, engine):
    made = all_at_once(engines, partial(_ask, Engine.plan), MANY)
    engine.plans.delete_plan(OURS, made[0])
    with engine.database.engine.begin() as connection:
        ended = sa.update(plan).where(plan.c.id == made[1])
        connection.execute(ended.values(expires_at=plan.c.created_at))
    more = all_at_once(engines, partial(_ask, Engine.plan), MANY)

    assert (len(made), len(more)) == (LIMIT, 2)
    assert engine.ids(plan) == {*made[1:], *more}
    with pytest.raises(errors.RequestLimitExceeded) as refused:
        engine.plan("another")
    assert str(refused.value) == too_many("plans per project")


def test_a_guard_refuses_as_well_where_no_plan_can_show_why(engine):
    environment = {"guards": {"none": {"forbid": ["create"]}}}
    engine.requests.create_stack(OURS, "web", {"template": EMPTY, "environment": environment}, {})
    shown = {engine.plan(f"plan-{number}") for number in range(LIMIT)}

    template = {**EMPTY, "resources": {"A": {"type": "OS::Heat::None"}}}
    with pytest.raises(errors.GuardBroken, match="none: it forbids to create A; no plan shows it"):
        engine.requests.update_stack(OURS, "web", {"template": template}, {}, existing=False)

    assert engine.ids(plan) == shown


# -- software -----------------------------------------------------------------------------------------


def test_of_many_configs_as_many_are_made_as_there_may_be(engines, engine):
    made = all_at_once(engines, Engine.add_config, MANY)
    for config in made[:2]:
        engine.software.delete_software_config(OURS, config)
    more = all_at_once(engines, Engine.add_config, MANY)

    assert (len(made), len(more)) == (LIMIT, 2)
    assert engine.ids(software_config) == {*made[2:], *more}


def test_of_many_deployments_as_many_are_made_as_there_may_be(engines, engine):
    config = engine.add_config("greet")
    made = all_at_once(engines, lambda each, _number: each.add_deployment(config), MANY)
    for deployment in made[:2]:
        engine.software.delete_software_deployment(OURS, deployment)
    more = all_at_once(engines, lambda each, _number: each.add_deployment(config), MANY)

    assert (len(made), len(more)) == (LIMIT, 2)
    assert engine.ids(software_deployment) == {*made[2:], *more}


def test_what_stacks_deploy_and_what_users_store_are_counted_together(engines, engine):
    def either(each, number):
        return each.deploy(f"{number}") if number % 2 else each.add_config(f"{number}")

    made = all_at_once(engines, either, MANY)

    assert len(made) == len(engine.ids(software_config)) == LIMIT
    assert engine.ids(software_deployment) <= set(made)


def test_what_runs_again_takes_the_place_of_its_last_run(engine):
    made = [engine.deploy(f"{number}") for number in range(LIMIT)]

    for number in range(LIMIT):
        engine.deploy(f"again-{number}", made[0])

    assert len(engine.ids(software_config)) == LIMIT


def test_a_run_whose_config_is_kept_by_a_deployment_of_the_users_counts(engine):
    """Each run leaves one behind so, which is nobody's once the user's deployment takes the next."""
    made = engine.deploy("0")
    users = engine.add_deployment(*engine.ids(software_config))

    def let_run_again(number):
        before = engine.ids(software_config)
        engine.deploy(f"{number}", made)
        (now,) = engine.ids(software_config) - before
        engine.software.update_software_deployment(OURS, users, {"config_id": now})

    for number in range(1, LIMIT):
        let_run_again(number)
    with pytest.raises(errors.RequestLimitExceeded) as refused:
        let_run_again(LIMIT)

    assert str(refused.value) == too_many("software configs per project")
    assert len(engine.ids(software_config)) == LIMIT


# -- snapshots -----------------------------------------------------------------------------------------


def test_of_many_snapshots_as_many_are_taken_as_there_may_be(engines, engine):
    web, other = engine.create("web"), engine.create("db")
    engine.take_snapshot(other)
    made = all_at_once(engines, lambda each, _number: each.take_snapshot(web), MANY)
    for taken in made[:2]:
        engine.lifecycle.delete_snapshot(OURS, web, taken)
    more = all_at_once(engines, lambda each, _number: each.take_snapshot(web), MANY)

    assert (len(made), len(more)) == (LIMIT, 2)
    assert engine.ids(snapshot, snapshot.c.stack_id == web) == {*made[2:], *more}
    with pytest.raises(errors.RequestLimitExceeded) as refused:
        engine.take_snapshot(web)
    assert str(refused.value) == too_many("snapshots per stack")


# -- what is asked again --------------------------------------------------------------------------------


def _stack(_engine, name):
    options = {"stack_id": new_id()}
    return "requests", "create_stack", {"name": name, "source": {"template": EMPTY}, "options": options}


def _config(_engine, name):
    return "software", "create_software_config", {"values": {"name": name, "config": "echo"}}


def _deployment(engine, name):
    values = {"config_id": min(engine.ids(software_config)), "server_id": name}
    return "software", "create_software_deployment", {"values": values}


def _snapshot(_engine, name):
    return "lifecycle", "create_snapshot", {"stack": "web-0", "name": name}


@pytest.mark.parametrize("kind", [_stack, _config, _deployment, _snapshot])
def test_a_request_is_not_refused_for_the_room_that_it_has_taken_itself(new_engine, kind):
    engines = [new_engine() for _ in range(3)]
    engine = engines[0]
    for number in range(LIMIT - 1):
        engine.create(f"web-{number}")
        config = engine.add_config(f"{number}")
        engine.add_deployment(config)
        engine.take_snapshot("web-0")
    part, method, arguments = kind(engine, "last")
    asked = Asked(new_id(), time.time(), 1)

    def ask(each):
        return each.again(getattr(each, part), method, asked, **arguments)

    answers = at_once(*(partial(ask, each) for each in engines * 2))
    answers += [ask(each) for each in engines]

    assert all(answer == answers[0] for answer in answers)
    part, method, arguments = kind(engine, "one more")
    with pytest.raises(errors.RequestLimitExceeded):
        engine.again(getattr(engine, part), method, Asked(new_id(), time.time(), 1), **arguments)
    assert len(living(engine)) <= LIMIT
    assert all(len(engine.ids(each)) <= LIMIT for each in (software_config, software_deployment, snapshot))


# -- what it costs ----------------------------------------------------------------------------------------

#: What asks for something by a name, and how many statements more it takes where there is a quota.
ASKED_FOR = {
    "create": (Engine.create, 3),  # before any work goes into it, and for good
    "config": (Engine.add_config, 2),
    "deployment": (lambda engine, _name: engine.add_deployment(min(engine.ids(software_config))), 2),
    "run": (Engine.deploy, 4),
    "snapshot": (lambda engine, _name: engine.take_snapshot("web"), 1),
}


@pytest.mark.parametrize("what", ASKED_FOR)
def test_where_there_is_no_quota_none_is_asked_about(new_engine, what):
    ask, more = ASKED_FOR[what]

    def statements(engine, name):
        engine.statements.clear()
        ask(engine, name)
        return list(engine.statements)

    free, bounded = new_engine(-1), new_engine(MANY)
    free.create("web")
    free.add_config("config")
    ask(free, "first")
    ask(bounded, "second")  # what is read once is read
    without, within = statements(free, "third"), statements(bounded, "fourth")

    assert not [statement for statement in without if "quota" in statement or "count(" in statement]
    assert len(within) == len(without) + more


# -- what a client sees ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_clients_are_told_and_nobody_is_let_down(run_daemons, fresh_database, rabbit_url, kind):
    daemons = run_daemons(
        database_url=fresh_database(kind),
        transport_url=rabbit_url,
        engines=2,
        workers=1,
        options={"DEFAULT": {"max_stacks_per_tenant": LIMIT}},
    )

    def create(number):
        body = {"stack_name": f"web-{number}", "template": EMPTY}
        return requests.post(f"{daemons.endpoint}/stacks", json=body, timeout=60)

    answers = at_once(*(partial(create, number) for number in range(MANY)))

    assert Counter(answer.status_code for answer in answers) == {201: LIMIT, 400: MANY - LIMIT}
    refused = {answer.json()["error"]["message"] for answer in answers if answer.status_code == 400}
    assert refused == {too_many("stacks per project")}
    listed = requests.get(f"{daemons.endpoint}/stacks", timeout=60).json()["stacks"]
    assert len(listed) == LIMIT
