# SPDX-License-Identifier: Apache-2.0
"""Resources that wait for the one before alone, and touch nothing outside, are made together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db.tables import event, resource
from heatconv.engine.reads import Reads
from heatconv.model.foreseen import NOTHING
from heatconv.resources.registry import Registry
from heatconv.testing.templates import SERVER, attr, thing
from heatconv.worker import stretches
from tests.functional.core.test_begun_with_the_claim import commits_of
from tests.functional.core.test_lost_answers import Forgetful, settle
from tests.functional.core.world import CONTEXT, HOUR

NAMES = "ABCDEFGHIJ"
BEFORE = 3  #: resources of a chain that are made one by one, before more is looked for


class Chain(NamedTuple):
    """A template, as ``World`` takes it."""

    resources: Mapping[str, Any]

    def hot(self):
        last = [*self.resources][-1]
        attribute = "output" if "TestResource" in self.resources[last]["type"] else "value"
        return {
            "heat_template_version": "2021-04-16",
            "resources": dict(self.resources),
            "outputs": {"last": {"value": {"get_attr": [last, attribute]}}},
        }

    def but(self, **changed):
        """Return the same with other resources, of which each still has the value of the one before it."""
        return Chain({**self.resources, **changed})


def value(of):
    """Return a resource whose value is that of another, or a text."""
    given = {"get_attr": [of, "value"]} if of in NAMES else of
    return {"type": "OS::Heat::Value", "properties": {"value": given}}


def echo(of, **properties):
    """Return one that does what its properties say."""
    return {
        "type": "OS::Heat::TestResource",
        "properties": {"value": {"get_attr": [of, "value"]}, **properties},
    }


CHAIN = Chain({"A": value("first"), **{after: value(of) for of, after in itertools.pairwise(NAMES)}})


@pytest.fixture(autouse=True)
def goes_on(world):
    """Have the worker go on with what it has made ready."""
    world.worker.spare_capacity = 1


@pytest.fixture
def together(monkeypatch):
    """Return a list of what is made together, by the names of the resources."""
    found: list[str] = []
    made_after = stretches.Stretches.after

    def watched(self, ending):
        after = made_after(self, ending)
        if after:
            found.append("".join(made.job.row.name for made in (ending, *after)))
        return after

    monkeypatch.setattr(stretches.Stretches, "after", watched)
    return found


def create(world, chain):
    world.create(chain)
    world.run()


def output(world):
    """Return what a user is shown of the last resource."""
    (shown,) = Reads(world.database, dead_after=HOUR).show_stack(CONTEXT, world.stack_id)["outputs"]
    return shown["output_value"]


def what_is_said(world):
    """Return all that is said of the rows, but whose they are, when and how often each was written."""
    names = {row.id: row.name for row in world.select(resource)}
    own = {"id", "stack_id", "physical_id", "reference_id", "created_at", "updated_at", "atomic_key"}
    own |= {"applied_template_id", "requires"}
    columns = [column.name for column in resource.c if column.name not in own]
    return {
        row.name: {
            **{name: getattr(row, name) for name in columns},
            "requires": {names[each]: version for each, version in row.requires.items()},
        }
        for row in world.select(resource)
    }


def test_what_can_be_made_at_once_is_recorded_in_one_transaction(world, together):
    committed = commits_of(world.worker)
    world.create(CHAIN)
    world.check("A+")

    assert together == [NAMES[BEFORE - 1 :]]
    # A is claimed, A and B are ended, then C with all that comes after it; and then the stack is.
    assert len(committed) == BEFORE + 2
    assert (world.state, output(world)) == ("CREATE_COMPLETE", "first")
    happened = ("IN_PROGRESS", "COMPLETE")
    assert world.events()[1:-1] == [f"{name} CREATE_{status}" for name in NAMES for status in happened]


def test_the_rows_are_as_if_each_had_been_made_by_itself(world, together):
    create(world, CHAIN)
    assert together
    at_once = what_is_said(world)
    world.delete()
    world.run()
    together.clear()

    world.worker.spare_capacity = 0
    create(world, CHAIN)
    assert not together
    assert what_is_said(world) == at_once


@pytest.mark.parametrize("more", [0, 1])
def test_a_worker_at_many_checks_has_them_share_transactions_instead(world, together, more):
    world.worker.checks_at_once = stretches.FEW + more
    create(world, CHAIN)

    assert together == ([] if more else [NAMES[BEFORE - 1 :]])
    assert (world.state, output(world)) == ("CREATE_COMPLETE", "first")


def test_a_secret_stays_one(world, together):
    create(world, CHAIN.but(A={"type": "OS::Heat::RandomString", "properties": {"length": 20}}))
    assert together
    secret = output(world)
    assert len(secret) == 20
    assert secret not in repr(world.select(event))


@pytest.mark.parametrize(
    ("last", "made", "state"),
    [
        (thing(attr("I")).hot(), "CDEFGHI", "COMPLETE"),
        (echo("I", fail=True), "CDEFGHI", "FAILED"),
        ({**value("I"), "metadata": {"some": "thing"}}, "CDEFGHI", "COMPLETE"),
        ({**value("I"), "depends_on": "A"}, "CDEFGHI", "COMPLETE"),
        ({**value("I"), "depends_on": "E"}, "CDE", "COMPLETE"),
    ],
    ids=["in a cloud", "fails", "has metadata", "waits for another, too", "waits for one of them"],
)
def test_what_takes_more_is_left_to_a_check_of_its_own(world, together, last, made, state):
    create(world, CHAIN.but(J=last))
    assert together[0] == made
    assert world.state == f"CREATE_{state}"
    assert world.rows() == dict.fromkeys(NAMES[:-1], "CREATE_COMPLETE v0") | {"J": f"CREATE_{state} v0"}


def test_what_the_worker_has_no_plugin_for_keeps_nothing_before_it_from_its_end(world, monkeypatch):
    world.create(CHAIN.but(J=thing(attr("I")).hot()))
    get = Registry.get

    def lacking(self, name):
        if name == SERVER:
            raise errors.NotFound(entity="Resource Type", name=name)
        return get(self, name)

    monkeypatch.setattr(Registry, "get", lacking)
    world.check("A+")
    assert world.rows() == dict.fromkeys(NAMES[:-1], "CREATE_COMPLETE v0") | {"J": "CREATE_FAILED v0"}


def test_what_waits_is_begun_with_its_row_held(world, together):
    world.create(CHAIN.but(J=echo("I", wait_secs=3600)))
    world.check("A+")
    assert together == ["CDEFGHI"]
    assert (world.rows()["J"], world.row("J").engine_id) == ("CREATE_IN_PROGRESS v0", world.worker.engine_id)


def test_a_breakpoint_is_stopped_at(world, together):
    """Of the resource that it is of nothing is made before somebody lets it."""
    hooks = {"resource_registry": {"resources": {"F": {"hooks": "pre-create"}}}}
    source = {"template": CHAIN.hot(), "environment": hooks}
    world.stack_id = world.engine.create_stack(CONTEXT, "web", source, {})
    world.check("A+")
    assert together == ["CDE"]
    assert (world.row("F").hook, world.row("F").physical_id) == ("pre-create", None)


def test_no_more_is_made_than_the_plan_says_that_is_applied(world, together):
    world.create(CHAIN)
    with world.database.engine.begin() as connection:
        nothing = sa.update(resource).where(resource.c.name == "F").values(foreseen=NOTHING.to_json())
        connection.execute(nothing)
    world.check("A+")
    assert together == ["CDE"]
    assert "did not foresee" in world.row("F").status_reason + repr(world.select(event))
    assert world.state == "CREATE_FAILED"


def test_no_more_is_made_together_than_is_good_for_others(world, together, monkeypatch):
    monkeypatch.setattr(stretches, "MOST", 3)
    create(world, CHAIN)
    assert together == ["CDEF", "GHIJ"]
    monkeypatch.setattr(stretches, "LONGEST", -1)
    world.delete()
    world.run()
    create(world, CHAIN)
    assert together[2:] == ["CD", "EF", "GH", "IJ"]
    assert world.state == "CREATE_COMPLETE"


def meanwhile(monkeypatch, happens):
    """Have something happen once, between what is made and the transaction that records it."""
    made_after, left = stretches.Stretches.after, [happens]

    def then(self, ending):
        after = made_after(self, ending)
        if after and left:
            left.pop()()
        return after

    monkeypatch.setattr(stretches.Stretches, "after", then)


def test_what_is_not_wanted_any_more_is_not_recorded(world, monkeypatch):
    other = Chain({name: CHAIN.resources[name] for name in "ABC"} | {"K": value("C"), "E": value("other")})
    meanwhile(monkeypatch, lambda: world.update(other))
    world.create(CHAIN)
    world.check("A+")
    assert [name for name, state in world.rows().items() if state == "CREATE_COMPLETE v0"] == ["A", "B", "C"]

    world.run()
    assert world.state == "UPDATE_COMPLETE"
    assert (set(world.rows()), output(world)) == (set("ABCEK"), "other")


@pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])  # who writes to SQLite has all rows
def test_a_row_that_another_transaction_has_locked_is_not_waited_for(world, monkeypatch):
    world.create(CHAIN)
    with world.database.engine.connect() as holder:
        lock = sa.select(resource).where(resource.c.id == world.row("F").id).with_for_update()
        meanwhile(monkeypatch, lambda: holder.execute(lock).one())
        world.check("A+")
        assert {name for name, state in world.rows().items() if state == "CREATE_COMPLETE v0"} >= set("ABC")
    world.run()
    assert world.state == "CREATE_COMPLETE"


def test_a_node_that_is_checked_twice_is_made_once(world, together):
    create(world, CHAIN)
    before = what_is_said(world), world.events()
    for name in NAMES:
        world.worker.checker.check(world.stack_id, world.stack.current_traversal, world.node(f"{name}+"))
    assert (what_is_said(world), world.events()) == before


@pytest.mark.parametrize("number", range(1, BEFORE + 3))
def test_whichever_answer_is_lost_all_are_made(world, number):
    world.worker = world.new_worker(Forgetful)
    world.worker.spare_capacity = 1
    world.worker.database.count, world.worker.database.lost = 0, range(number, number + 1)
    world.create(CHAIN)
    settle(world)

    assert world.worker.database.count >= number
    assert (world.state, output(world)) == ("CREATE_COMPLETE", "first")
    assert {row.engine_id for row in world.select(resource)} == {None}
    happened = [f"{name} CREATE_COMPLETE" for name in NAMES]
    assert [each for each in world.events() if each in happened] == happened
