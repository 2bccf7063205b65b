# SPDX-License-Identifier: Apache-2.0
"""The plan of a traversal: what must hold whatever the rows are and whatever is wanted."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatconv.graph.dag import Dag, in_dependency_order
from heatconv.graph.traversal import WIDE, choose_rows, clear, plan, spread_fan_in
from heatconv.model.definition import Definition
from heatconv.model.nodes import Direction, Node
from heatconv.model.plan import Target
from heatconv.model.records import POSSIBLE, Extant
from heatconv.model.states import Action, DeletionPolicy, Status

STACK = "stack"
MIDDLE, END = Node(STACK, Direction.UPDATE), Node(STACK, Direction.CLEANUP)
NAMES = "ABCDE"
VALUES = ("1", "2")


def update(row_id):
    return Node(row_id, Direction.UPDATE)


def cleanup(row_id):
    return Node(row_id, Direction.CLEANUP)


def target(name, requires=(), value="1", attributes=()):
    definition = Definition(
        name=name, type="A::Type", properties={"value": value}, depends_on=tuple(sorted(requires))
    )
    return Target(definition=definition, attributes=frozenset(attributes))


def row(row_id, name, **fields):
    settled = target(name).definition.sha1
    return Extant(
        **{
            "id": row_id,
            "name": name,
            "wanted": True,
            "desired_sha1": settled,
            "applied_sha1": settled,
            "requires": {},
            "attributes": {},
            "output_version": 1,
            "action": Action.CREATE,
            "status": Status.COMPLETE,
            "locked": False,
            **fields,
        }
    )


def row_of(row_id, wanted, ids):
    """Return the row of a resource that is as it is wanted."""
    definition = wanted.definition
    return row(
        row_id,
        definition.name,
        desired_sha1=definition.sha1,
        applied_sha1=definition.sha1,
        requires={ids[other]: 1 for other in definition.requires},
        attributes=dict.fromkeys(wanted.attributes),
    )


# -- whatever there is and whatever is wanted ------------------------------------------------


@st.composite
def targets(draw):
    """Draw what a template wants: some names, each requiring some of those before it."""
    names = draw(st.permutations(NAMES))[: draw(st.integers(0, len(NAMES)))]
    return {
        name: target(
            name,
            requires=draw(st.sets(st.sampled_from(names[:index]))) if index else (),
            value=draw(st.sampled_from(VALUES)),
            attributes=draw(st.sets(st.sampled_from(["x", "y"]))),
        )
        for index, name in enumerate(names)
    }


@st.composite
def rows(draw, wanted):
    """Draw rows in any state, each requiring some of those before it; some are just as wanted."""
    found: dict[str, Extant] = {}
    for number in range(draw(st.integers(0, 8))):
        name = draw(st.sampled_from(NAMES))
        sha1s = [target(name, value=value).definition.sha1 for value in VALUES]
        if name in wanted:
            sha1s += [wanted[name].definition.sha1] * 3
        sha1s = [*sha1s, None]
        found[f"row{number}"] = row(
            f"row{number}",
            name,
            desired_sha1=(desired := draw(st.sampled_from(sha1s))),
            wanted=desired is not None,
            applied_sha1=draw(st.sampled_from([desired, *sha1s])),
            requires=draw(st.dictionaries(st.sampled_from([*found]), st.integers(0, 1))) if found else {},
            attributes=draw(st.dictionaries(st.sampled_from(["x", "y"]), st.none())),
            output_version=draw(st.integers(0, 1)),
            action=draw(st.sampled_from([Action.INIT, Action.CREATE, Action.UPDATE, Action.DELETE])),
            status=draw(st.sampled_from(Status)),
            locked=draw(st.booleans()),
        )
    return list(found.values())


@st.composite
def stacks(draw):
    """Draw what is wanted and what there is; sometimes a part of it is just as wanted."""
    wanted = draw(targets())
    if draw(st.booleans()):
        return wanted, draw(rows(wanted))
    ids = {name: f"settled {name}" for name in wanted}
    kept = draw(st.sets(st.sampled_from(sorted(wanted)))) if wanted else set()
    return wanted, [row_of(ids[name], wanted[name], ids) for name in sorted(kept)]


STACKS = stacks()


def before(planned):
    """Return a function that tells whether a node comes before another in a plan."""

    @cache
    def all_before(node):
        return planned.requires[node].union(*(all_before(each) for each in planned.requires[node]))

    return lambda first, then: first in all_before(then)


@settings(max_examples=50)
@given(STACKS)
def test_every_node_can_be_reached(stack):
    planned = plan(STACK, *stack)

    nodes = planned.requires.keys()
    assert all(required <= nodes for required in planned.requires.values())
    assert len(in_dependency_order(planned.requires)) == len(nodes)
    assert set(planned.leaves) == {node for node in nodes if not planned.requires[node]}


@settings(max_examples=50)
@given(STACKS)
def test_each_name_has_one_row_and_all_other_rows_are_garbage(stack):
    wanted, extant = stack
    planned = plan(STACK, wanted, extant)

    ids = {each.id for each in extant}
    assert planned.chosen.keys() == wanted.keys()
    assert len(set(planned.chosen.values())) == len(wanted)
    assert planned.garbage == ids - set(planned.chosen.values())
    assert planned.created == {name for name, row_id in planned.chosen.items() if row_id not in ids}
    names = {each.id: each.name for each in extant}
    assert all(names.get(row_id, name) == name for name, row_id in planned.chosen.items())


@settings(max_examples=50)
@given(STACKS)
def test_what_is_dirty_has_an_update_node_and_what_is_clean_has_none_at_all(stack):
    planned = plan(STACK, *stack)

    clean = {row_id for name, row_id in planned.chosen.items() if name not in planned.dirty}
    nodes = planned.requires.keys() - {MIDDLE, END} - planned.joins.keys()
    assert {node.resource_id for node in nodes if node.direction is Direction.UPDATE} == {
        planned.chosen[name] for name in planned.dirty
    }
    assert clean.isdisjoint(node.resource_id for node in nodes)


@settings(max_examples=50)
@given(STACKS)
def test_what_is_clean_is_as_wanted_and_so_is_all_it_requires(stack):
    wanted, extant = stack
    planned = plan(STACK, wanted, extant)

    found = {each.id: each for each in extant}
    for name in wanted.keys() - planned.dirty:
        clean, definition = found[planned.chosen[name]], wanted[name].definition
        assert (clean.status, clean.locked) == (Status.COMPLETE, False)
        assert clean.desired_sha1 == clean.applied_sha1 == definition.sha1
        assert wanted[name].attributes <= clean.attributes.keys()
        assert definition.requires.isdisjoint(planned.dirty)
        assert clean.requires == {
            planned.chosen[other]: found[planned.chosen[other]].output_version
            for other in definition.requires
        }


@settings(max_examples=50)
@given(STACKS)
def test_garbage_and_what_may_be_replaced_has_a_cleanup_node(stack):
    wanted, extant = stack
    planned = plan(STACK, wanted, extant)

    begun = {each.id for each in extant if each.action is not Action.INIT}
    replaceable = {planned.chosen[name] for name in planned.dirty} & begun
    nodes = {node.resource_id for node in planned.requires if node.direction is Direction.CLEANUP}
    assert nodes - {STACK} - ids_of(planned.joins) == planned.garbage | replaceable


def ids_of(nodes):
    return {node.resource_id for node in nodes}


@settings(max_examples=50)
@given(STACKS)
def test_the_stacks_own_nodes_are_gates(stack):
    planned = plan(STACK, *stack)
    is_before = before(planned)
    begun = (Action.DELETE, Status.IN_PROGRESS)
    going = {each.id for each in stack[1] if (each.action, each.status) == begun}

    def all_going(node):
        return node.resource_id in going and all(map(all_going, planned.requires[node]))

    for node in planned.requires.keys() - {MIDDLE, END}:
        if node.direction is Direction.UPDATE:
            assert is_before(node, MIDDLE)
        else:
            assert is_before(MIDDLE, node) or all_going(node)
            assert is_before(node, END)


@settings(max_examples=50)
@given(STACKS)
def test_updates_go_in_dependency_order_and_cleanups_against_it(stack):
    wanted, extant = stack
    planned = plan(STACK, wanted, extant)
    is_before = before(planned)

    for name in planned.dirty:
        for other in wanted[name].definition.requires & planned.dirty:
            assert is_before(update(planned.chosen[other]), update(planned.chosen[name]))
    for each in extant:
        for required in each.requires:
            if {cleanup(each.id), cleanup(required)} <= planned.requires.keys():
                assert is_before(cleanup(each.id), cleanup(required))


@settings(max_examples=50)
@given(STACKS)
def test_what_is_dirty_is_told_by_what_is_clean_at_once(stack):
    wanted, extant = stack
    planned = plan(STACK, wanted, extant)

    assert len(set(planned.inputs)) == len(planned.inputs)
    assert set(planned.inputs) == {
        (update(planned.chosen[name]), update(planned.chosen[other]))
        for name in planned.dirty
        for other in wanted[name].definition.requires - planned.dirty
    }


@given(targets())
def test_a_stack_that_is_as_wanted_needs_nothing(wanted):
    ids = {name: f"row {name}" for name in wanted}

    planned = plan(STACK, wanted, [row_of(ids[name], wanted[name], ids) for name in wanted])

    assert planned.chosen == ids
    assert not (planned.requires)
    assert not (planned.inputs)
    assert not (planned.dirty)
    assert not (planned.garbage)


@given(targets(), st.data())
def test_one_change_reaches_what_depends_on_it_and_nothing_else(wanted, data):
    if not wanted:
        return
    ids = {name: f"row {name}" for name in wanted}
    changed = data.draw(st.sampled_from(sorted(wanted)))
    extant = [
        row_of(ids[name], wanted[name], ids)._replace(applied_sha1="other")
        if name == changed
        else row_of(ids[name], wanted[name], ids)
        for name in wanted
    ]

    planned = plan(STACK, wanted, extant)

    reached = {changed}
    for name in in_dependency_order({name: each.definition.requires for name, each in wanted.items()}):
        if wanted[name].definition.requires & reached:
            reached.add(name)
    assert planned.dirty == reached


# -- joins -----------------------------------------------------------------------------------


@given(st.integers(0, 400), st.integers(1, 3))
def test_joins_keep_what_comes_before_what(width, waiters):
    graph = Dag[Node]()
    sources = [update(f"source {number}") for number in range(width)]
    for number in range(waiters):
        graph.add(update(f"waiter {number}"), *sources)

    spread, joins = spread_fan_in(graph)

    assert joins.keys().isdisjoint(graph)
    assert set(spread) == set(graph) | joins.keys()
    for node in graph:
        required = [spread.requires(each) if each in joins else {each} for each in spread.requires(node)]
        assert frozenset().union(*required) == graph.requires(node)
    for join, joined in joins.items():
        assert join in spread.requires(joined)
        assert join.direction is joined.direction
        assert spread.requires(join).isdisjoint(joins)
    assert all(len(spread.requires(node)) <= WIDE for node in spread)


@pytest.mark.parametrize(("width", "joins"), [(WIDE, 0), (WIDE + 1, 5), (100, 10), (1000, 31)])
def test_a_wide_fan_in_is_spread_over_about_as_many_joins_as_each_has_members(width, joins):
    names = [f"N{number}" for number in range(width)]
    wanted = {name: target(name) for name in names} | {"J": target("J", requires=names)}

    planned = plan(STACK, wanted, [])

    joined = update(planned.chosen["J"])
    assert sum(each == joined for each in planned.joins.values()) == joins


# -- examples --------------------------------------------------------------------------------


def test_a_first_traversal_makes_everything_in_order_and_cleans_nothing():
    planned = plan(STACK, {"A": target("A"), "C": target("C", requires="A")}, [])

    a, c = planned.chosen["A"], planned.chosen["C"]
    assert planned.requires == {
        update(a): set(),
        update(c): {update(a)},
        MIDDLE: {update(c)},
    }


def test_nothing_wanted_of_nothing_there_is_nothing_to_do():
    assert plan(STACK, {}, []).requires == {}


def test_a_delete_goes_against_the_order_of_creation_behind_the_gate():
    planned = plan(STACK, {}, [row("a", "A"), row("c", "C", requires={"a": 1})])

    assert planned.requires == {
        MIDDLE: set(),
        cleanup("c"): {MIDDLE},
        cleanup("a"): {cleanup("c")},
        END: {cleanup("a")},
    }


def test_a_stack_that_goes_has_no_gate():
    planned = clear(STACK, [row("a", "A"), row("c", "C", requires={"a": 1})])

    assert planned.requires == {
        cleanup("c"): set(),
        cleanup("a"): {cleanup("c")},
        END: {cleanup("a")},
    }


@settings(max_examples=50)
@given(STACKS)
def test_what_goes_goes_in_the_order_in_which_it_would_behind_the_gate(stack):
    _, extant = stack
    gated, planned = plan(STACK, {}, extant), clear(STACK, extant)

    assert planned.garbage == gated.garbage
    assert planned.requires == {
        node: requires - {MIDDLE} for node, requires in gated.requires.items() if node != MIDDLE
    }


def test_a_row_whose_applied_definition_is_wanted_again_is_gone_on_with():
    dropped = row("dropped", "A", desired_sha1=None, wanted=False)
    current = row("current", "A", applied_sha1="other")

    assert choose_rows({"A": target("A")}, [current, dropped]) == {"A": dropped}
    assert choose_rows({"A": target("A")}, [dropped, current]) == {"A": dropped}


def test_what_was_replaced_for_what_it_requires_is_not_returned_to():
    """Its replacement, half made, goes on; a second one beside it may find its address taken."""
    wanted = {"A": target("A", value="2"), "B": target("B", requires="A")}
    before = row_of("row1", target("A"), {})._replace(wanted=False, desired_sha1=None)
    now = row_of("row2", wanted["A"], {})
    requires = {"row1": 1, "row2": POSSIBLE}  # it was to be changed, until that took a replacement
    made = row_of("row3", wanted["B"], {"A": "row1"})
    made = made._replace(wanted=False, desired_sha1=None, requires=requires)
    half = row("row4", "B", requires={"row2": POSSIBLE}, applied_sha1=None, status=Status.IN_PROGRESS)
    for rows_there in ([before, now, made, half], [half, made, now, before]):
        assert choose_rows(wanted, rows_there) == {"A": now, "B": half}


def test_a_rollback_returns_to_what_was_replaced_for_what_it_requires():
    wanted = {"A": target("A"), "B": target("B", requires="A")}
    before = row_of("row1", wanted["A"], {})._replace(wanted=False, desired_sha1=None)
    now = row_of("row2", target("A", value="2"), {})
    made = row_of("row3", wanted["B"], {"A": "row1"})._replace(wanted=False, desired_sha1=None)
    half = row("row4", "B", requires={"row2": 1}, applied_sha1=None, status=Status.IN_PROGRESS)
    for rows_there in ([before, now, made, half], [half, made, now, before]):
        assert choose_rows(wanted, rows_there) == {"A": before, "B": made}


@pytest.mark.parametrize(
    ("found", "chosen"),
    [
        (row("it", "A", applied_sha1=None, action=Action.INIT), True),
        (row("it", "A", applied_sha1="other", status=Status.FAILED), True),
        (row("it", "A", desired_sha1=None, wanted=False, applied_sha1="other"), True),
        (row("it", "A", desired_sha1=None, wanted=False, status=Status.FAILED), True),
        (row("it", "A", desired_sha1=None, wanted=False, applied_sha1=None, action=Action.INIT), False),
        (row("it", "A", action=Action.DELETE), False),
        (row("it", "A", action=Action.DELETE, status=Status.FAILED), False),
        (row("it", "B"), False),
    ],
)
def test_a_row_is_gone_on_with_unless_nothing_was_begun_or_its_deletion_was(found, chosen):
    assert choose_rows({"A": target("A")}, [found]) == ({"A": found} if chosen else {})


@pytest.mark.parametrize(
    "found",
    [
        row("it", "A", locked=True),
        row("it", "A", status=Status.FAILED),
        row("it", "A", status=Status.IN_PROGRESS),
        row("it", "A", applied_sha1="other"),
        row("it", "A", desired_sha1="other"),
        row("it", "A", requires={"gone": 1}),
    ],
)
def test_a_row_that_is_not_settled_is_dirty(found):
    planned = plan(STACK, {"A": target("A")}, [found])

    assert planned.dirty == {"A"}
    assert {update("it"), cleanup("it")} <= planned.requires.keys()


def test_a_row_that_does_not_have_an_attribute_that_is_referred_to_is_dirty():
    assert plan(STACK, {"A": target("A", attributes={"x"})}, [row("it", "A")]).dirty == {"A"}


def test_a_row_that_was_converged_with_an_older_output_is_dirty():
    wanted = {"A": target("A"), "C": target("C", requires="A")}
    c = wanted["C"].definition.sha1
    a = row("a", "A", output_version=2)

    stale = row("c", "C", desired_sha1=c, applied_sha1=c, requires={"a": 1})
    fresh = stale._replace(requires={"a": 2})

    assert plan(STACK, wanted, [a, stale]).dirty == {"C"}
    assert plan(STACK, wanted, [a, fresh]).dirty == set()


def test_what_was_never_begun_has_nothing_to_replace():
    planned = plan(STACK, {"A": target("A")}, [row("it", "A", applied_sha1=None, action=Action.INIT)])

    assert planned.requires == {update("it"): set(), MIDDLE: {update("it")}}


# -- what is to be retained ------------------------------------------------------------------


def retained(name):
    definition = replace(target(name).definition, deletion_policy=DeletionPolicy.RETAIN)
    return Target(definition=definition)


@pytest.mark.parametrize(
    ("fields", "goes_on"),
    [
        ({"wanted": False, "desired_sha1": None}, True),
        ({"action": Action.DELETE, "status": Status.FAILED, "wanted": False, "desired_sha1": None}, True),
        ({"action": Action.DELETE, "status": Status.IN_PROGRESS, "wanted": False}, False),
        ({"action": Action.INIT, "wanted": False, "desired_sha1": None}, False),
    ],
)
def test_what_is_to_be_retained_is_not_left_for_a_second_one(fields, goes_on):
    (only,) = rows_of_a = [row("row1", "A", **fields)]
    assert choose_rows({"A": retained("A")}, rows_of_a) == ({"A": only} if goes_on else {})
    dropped = fields.get("action") is None
    assert choose_rows({"A": target("A", value="2")}, rows_of_a) == ({"A": only} if dropped else {})


def test_of_several_that_were_dropped_the_newest_goes_on():
    dropped = {"wanted": False, "desired_sha1": None}
    old, new = row("row1", "A", **dropped), row("row2", "A", **dropped)
    assert choose_rows({"A": retained("A")}, [old, new]) == {"A": new}
    assert choose_rows({"A": target("A", value="2")}, [old, new]) == {"A": new}
    assert choose_rows({"A": retained("A")}, [row("row0", "A"), old, new])["A"].id == "row0"


# -- what is being deleted -------------------------------------------------------------------

GOING = {"action": Action.DELETE, "status": Status.IN_PROGRESS, "wanted": False, "desired_sha1": None}


def test_what_comes_in_place_of_what_is_being_deleted_waits_for_it_and_the_deletion_for_nothing():
    planned = plan(STACK, {"A": target("A")}, [row("old", "A", **GOING)])
    new = planned.chosen["A"]

    assert planned.requires == {
        cleanup("old"): set(),
        update(new): {cleanup("old")},
        MIDDLE: {update(new)},
        END: {MIDDLE, cleanup("old")},
    }


def test_a_nested_stack_does_not_wait_for_the_one_before_it():
    planned = plan(STACK, {"A": target("A")._replace(nested=True)}, [row("old", "A", **GOING)])

    assert planned.requires[update(planned.chosen["A"])] == set()


def test_what_is_there_already_does_not_wait_for_what_was_there_before_it():
    wanted = {"A": target("A", value="2")}
    planned = plan(STACK, wanted, [row("old", "A", **GOING), row("new", "A")])

    assert planned.requires[update("new")] == set()
    assert planned.requires[cleanup("old")] == set()


def test_a_deletion_that_waits_for_others_begins_with_them():
    kept = row("kept", "C", requires={"old": 1})
    planned = plan(STACK, {"A": target("A")}, [row("old", "A", **GOING), kept])

    assert planned.requires[cleanup("kept")] == {MIDDLE}
    assert planned.requires[cleanup("old")] == {cleanup("kept")}
    assert planned.requires[update(planned.chosen["A"])] == set()


def test_what_waits_for_a_deletion_alone_still_waits_for_the_update_half():
    old = row("old", "A", **GOING, requires={"below": 1})
    planned = plan(STACK, {"C": target("C")}, [old, row("below", "B")])

    assert planned.requires[cleanup("below")] == {MIDDLE, cleanup("old")}


def test_a_stack_ends_after_its_update_half_though_all_that_goes_is_gone():
    planned = plan(STACK, {}, [row("old", "A", **GOING)])

    assert planned.requires == {MIDDLE: set(), cleanup("old"): set(), END: {MIDDLE, cleanup("old")}}


def test_each_row_of_a_name_is_given_the_newest_policy():
    going = {"action": Action.DELETE, "status": Status.IN_PROGRESS, "wanted": False, "desired_sha1": None}
    wanted = retained("A")
    rows_of_a = [
        row("row1", "A", **going),
        row("row2", "A", **going, deletion_policy="Delete"),
        row("row3", "A", **going, deletion_policy="Retain"),
        row("row4", "A", desired_sha1=wanted.definition.sha1, applied_sha1=wanted.definition.sha1),
        row("row5", "B", **going),
    ]
    made = plan(STACK, {"A": wanted}, rows_of_a)
    assert made.chosen == {"A": "row4"}
    assert made.policies == {"row1": DeletionPolicy.RETAIN, "row2": DeletionPolicy.RETAIN}
