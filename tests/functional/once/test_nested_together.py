# SPDX-License-Identifier: Apache-2.0
"""Nested stacks that are asked for together are made together, all that nothing is in the way of."""

from __future__ import annotations

import time
from typing import Any

import pytest
import sqlalchemy as sa

from heatconv.db import tables
from heatconv.db.convergence import nested
from tests.functional.once.serving import empty, wanted

Json = dict[str, Any]
THREE = 3
TICK = 0.02  #: seconds between two looks
MANY = 5  #: resources of which a nested stack begins with too many nodes for whoever asks


def source(resources: int = 1, type_: str = "OS::Heat::None") -> Json:
    template = empty() | {"resources": {f"R{number}": {"type": type_} for number in range(resources)}}
    return {"template": template, "parameters": {}, "environment": {}, "files": {}}


@pytest.fixture
def owners(serving):
    return serving.held(serving.make_waiting("around", THREE))


@pytest.fixture
def children(serving):
    """Return a function that returns the living stacks of owners, by the owner."""

    def of(owners: list[Json]) -> dict[str, list[str]]:
        stack = tables.stack
        living = sa.select(stack.c.owner_resource_id, stack.c.id).where(stack.c.deleted_at.is_(None))
        found: dict[str, list[str]] = {owner["id"]: [] for owner in owners}
        for owner, stack_id in serving.read(living.where(stack.c.owner_resource_id.in_(found))):
            found[owner].append(stack_id)
        return found

    return of


def ask(serving, owners, *sources):
    return serving.ask("create_nested_stacks", **wanted("inside", owners, *sources))


def test_each_owner_gets_its_stack_and_whoever_asks_the_nodes_it_begins_with(serving, owners, children):
    begun = ask(serving, owners, *[source(2)] * THREE)

    assert children(owners) == {
        owner["id"]: [each["stack_id"]] for owner, each in zip(owners, begun, strict=True)
    }
    resource = tables.resource
    for each in begun:
        rows = serving.read(sa.select(resource.c.id).where(resource.c.stack_id == each["stack_id"]))
        assert sorted(each["leaves"]) == sorted(row_id for (row_id,) in rows)
    (around,) = serving.read(sa.select(tables.stack.c.id).where(tables.stack.c.name == "around"))
    place = sa.select(tables.stack.c.root_stack_id, tables.stack.c.nested_depth)
    for each in begun:
        assert serving.read(place.where(tables.stack.c.id == each["stack_id"])) == [(around[0], 1)]


def test_an_owner_that_has_a_stack_is_left_to_be_asked_for_alone(serving, owners, children):
    first, *_ = ask(serving, owners[:1], source())

    again = ask(serving, owners, *[source()] * THREE)

    assert again[0] is None
    assert None not in again[1:]
    assert children(owners)[owners[0]["id"]] == [first["stack_id"]]


def test_a_claim_that_counts_no_more_keeps_no_other_from_its_stack(serving, owners, children):
    broken = {**owners[1], "atomic_key": owners[1]["atomic_key"] - 1}

    begun = ask(serving, [owners[0], broken, owners[2]], *[source()] * THREE)

    assert [each is None for each in begun] == [False, True, False]
    assert [len(stacks) for stacks in children(owners).values()] == [1, 0, 1]


def test_a_mistake_keeps_no_other_from_its_stack(serving, owners, children):
    begun = ask(serving, owners, source(), source(type_="No::Such"), source())

    assert [each is None for each in begun] == [False, True, False]
    assert [len(stacks) for stacks in children(owners).values()] == [1, 0, 1]


def test_of_two_of_one_name_neither_is_made(serving, owners, children):
    """The index refuses the transaction; whoever asks for each alone is told which one it is."""
    asked = wanted("inside", owners, *[source()] * THREE)
    asked["wanted"][2]["name"] = asked["wanted"][1]["name"]

    assert serving.ask("create_nested_stacks", **asked) == [None] * THREE
    assert [len(stacks) for stacks in children(owners).values()] == [0, 0, 0]


def test_a_stack_that_begins_with_many_nodes_is_rung_for(serving, owners):
    begun = ask(serving, owners, source(MANY), source(), source())

    assert [len(each["leaves"]) for each in begun] == [0, 1, 1]
    status = sa.select(tables.stack.c.status).where(tables.stack.c.id == begun[0]["stack_id"])
    while serving.read(status) != [("COMPLETE",)]:
        time.sleep(TICK)


def test_an_empty_stack_is_complete_at_once(serving, owners):
    begun = ask(serving, owners, *[source(0)] * THREE)

    assert [each["leaves"] for each in begun] == [[], [], []]
    ids = [each["stack_id"] for each in begun]
    status = sa.select(tables.stack.c.status).where(tables.stack.c.id.in_(ids))
    assert serving.read(status) == [("COMPLETE",)] * THREE


def test_an_owner_is_not_woken_to_be_deleted_before_its_stack_is(serving, owners):
    ask(serving, owners, *[source(0)] * THREE)
    first, *others = [owner["id"] for owner in owners]

    def woken():
        return {row_id for row_id, _ in nested.waiting_for_ended(serving.database, limit=10)}

    def is_deleted(table, *where):
        with serving.database.engine.begin() as connection:
            connection.execute(sa.update(table).where(*where).values(action="DELETE"))

    assert woken() == {first, *others}
    is_deleted(tables.resource, tables.resource.c.id == first)
    assert woken() == {*others}
    is_deleted(tables.stack, tables.stack.c.owner_resource_id == first)
    assert woken() == {first, *others}
