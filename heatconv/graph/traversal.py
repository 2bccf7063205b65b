# SPDX-License-Identifier: Apache-2.0
"""What has to be done to make a stack's rows match a template: the plan of a traversal.

Create, update, delete and rollback are one operation on different templates.
The plan is built in named steps, each with its reason; it is a statement about
rows, not about history, so it holds in whatever state the stack is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from heatconv.graph.dag import Dag, in_dependency_order
from heatconv.model.definition import Definition
from heatconv.model.deletion import newer_policies
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, Node
from heatconv.model.plan import Plan, Target
from heatconv.model.records import POSSIBLE, Extant
from heatconv.model.states import Action, DeletionPolicy, Status


class Order(Enum):
    """In which order resources are visited."""

    DEPENDENCIES_FIRST = "dependencies first"
    DEPENDENTS_FIRST = "dependents first"
    ANY = "any"


#: How good it is to go on with a row; what is at least as wanted comes first.
_DROPPED, _WANTED, _AS_WANTED = 1, 2, 4

WIDE = 32  #: requirements of one node from which on they are spread over joins


def plan(stack_id: str, targets: Mapping[str, Target], extant: Iterable[Extant]) -> Plan:
    """Plan how a stack's extant rows become what its template wants."""
    rows = {row.id: row for row in extant}
    going_on = choose_rows(targets, rows.values())
    chosen = {name: going_on[name].id if name in going_on else new_id() for name in targets}
    garbage = rows.keys() - chosen.values()
    dirty = find_dirty(targets, going_on, chosen)

    updates = update_half(targets, chosen, dirty)
    cleanups = cleanup_half(rows, garbage, replaceable(going_on, dirty))
    going = find_going(rows, cleanups)
    wait_for_deletions(updates, rows, going, made_anew(targets, going_on, chosen))
    graph, joins = spread_fan_in(join_halves(stack_id, updates, cleanups, going))
    return Plan(
        chosen=chosen,
        created=frozenset(targets.keys() - going_on.keys()),
        dirty=dirty,
        garbage=frozenset(garbage),
        requires={node: graph.requires(node) for node in graph},
        joins=joins,
        inputs=tuple(clean_inputs(targets, chosen, dirty)),
        policies=dict(newer_policies(targets, rows.values(), chosen, dirty)),
    )


def clear(stack_id: str, extant: Iterable[Extant]) -> Plan:
    """Plan how every row of a stack goes; nothing is wanted of it, so there is no update half to wait for."""
    rows = {row.id: row for row in extant}
    graph = cleanup_half(rows, rows, set())
    if rows:
        graph.add(_cleanup(stack_id), *graph.roots())
    spread, joins = spread_fan_in(graph)
    return Plan(
        chosen={},
        created=frozenset(),
        dirty=frozenset(),
        garbage=frozenset(rows),
        requires={node: spread.requires(node) for node in spread},
        joins=joins,
        inputs=(),
    )


def visit(stack_id: str, extant: Iterable[Extant], *, order: Order) -> Plan:
    """Plan how each wanted row of a stack is visited as it is, in some order."""
    rows = {row.id: row for row in extant if row.wanted}
    graph: Dag[Node] = Dag()
    for row in rows.values():
        graph.add(_update(row.id))
        required = row.requires.keys() & rows.keys()
        if order is Order.DEPENDENCIES_FIRST:
            graph.add(_update(row.id), *(_update(other) for other in required))
        elif order is Order.DEPENDENTS_FIRST:
            for other in required:
                graph.add(_update(other), _update(row.id))
    if rows:
        graph.add(_update(stack_id), *graph.roots())
    spread, joins = spread_fan_in(graph)
    return Plan(
        chosen={},
        created=frozenset(),
        dirty=frozenset(),
        garbage=frozenset(),
        requires={node: spread.requires(node) for node in spread},
        joins=joins,
        inputs=(),
    )


def choose_rows(targets: Mapping[str, Target], rows: Iterable[Extant]) -> dict[str, Extant]:
    """Per wanted name, choose the row to go on with, if there is one.

    Best is a row that already is what is wanted, be it one that was replaced or
    dropped and not yet cleaned up: so a rollback returns to what still exists.  That it is
    only if it was made with the rows that are gone on with; else it would be replaced once
    more.  Next the row that the current template wants, then one that was dropped, the
    newest of them: a second one beside it may find its name or its address taken.  Never
    one that is being deleted, or was replaced while an action was under way, for nobody can
    tell what of it is there; one that could not be deleted only if it is to be retained, and
    if it is not well, its check finds out.
    """
    candidates: dict[str, list[Extant]] = {}
    for row in rows:
        target = targets.get(row.name)
        if target is not None and _rank(row, target.definition):
            candidates.setdefault(row.name, []).append(row)
    best = {name: found[0] for name, found in candidates.items() if len(found) == 1}
    several = {name: targets[name].definition.requires for name in candidates.keys() - best.keys()}
    for name in in_dependency_order(several):
        definition = targets[name].definition
        required = [best[other].id if other in best else "" for other in definition.requires]
        best[name] = _best(candidates[name], definition, required)
    return best


def _best(candidates: Sequence[Extant], definition: Definition, required: Sequence[str]) -> Extant:
    """Return the best of some rows for a definition that requires these rows; "" is one to be made."""
    best, before = candidates[0], 0
    for row in candidates:
        rank = _rank(row, definition)
        if any(row.requires.get(each, POSSIBLE) == POSSIBLE for each in required):
            rank -= rank & _AS_WANTED
        rank = rank or _DROPPED
        if rank > before or rank == before == _DROPPED:
            best, before = row, rank
    return best


def _rank(row: Extant, definition: Definition) -> int:
    """Tell how good it is to go on with a row for a definition; 0: not at all."""
    if row.action is Action.DELETE and row.status is not Status.FAILED:
        return 0
    if row.action is Action.DELETE:
        return _DROPPED * (definition.deletion_policy is DeletionPolicy.RETAIN)
    if _is_given_up(row):
        return 0
    as_wanted = row.status is Status.COMPLETE and row.applied_sha1 == definition.sha1
    return _AS_WANTED * as_wanted + _WANTED * row.wanted or _DROPPED * (row.action is not Action.INIT)


def _is_given_up(row: Extant) -> bool:
    """Tell whether a row was replaced while an action was under way."""
    is_made = row.status is Status.COMPLETE and row.action in (Action.CREATE, Action.UPDATE)
    return is_made and row.applied_sha1 is None


def find_dirty(
    targets: Mapping[str, Target], going_on: Mapping[str, Extant], chosen: Mapping[str, str]
) -> frozenset[str]:
    """Name the resources whose check could find something to do.

    All others are clean: complete, unlocked, not drifted, made of the very definition that
    is wanted, and so is all they require, unchanged since they were converged
    with it.
    """
    dirty: set[str] = set()
    for name in in_dependency_order({name: target.definition.requires for name, target in targets.items()}):
        row, target = going_on.get(name), targets[name]
        if row is None or not is_settled(row, target):
            dirty.add(name)
            continue
        required = target.definition.requires
        if not dirty.isdisjoint(required) or row.requires != {
            chosen[other]: going_on[other].output_version for other in required
        }:
            dirty.add(name)
    return frozenset(dirty)


def is_settled(row: Extant, target: Target) -> bool:
    """Tell whether a row, looked at alone, is as wanted and nobody is at work on it."""
    return (
        row.status is Status.COMPLETE
        and not (row.locked or row.drifted or target.always)
        and row.desired_sha1 == row.applied_sha1 == target.definition.sha1
        and target.attributes <= row.attributes.keys()
    )


def replaceable(going_on: Mapping[str, Extant], dirty: frozenset[str]) -> set[str]:
    """Return the ids of the wanted rows that this traversal may have to replace.

    What was never begun has nothing to replace.
    """
    return {row.id for name, row in going_on.items() if name in dirty and row.action is not Action.INIT}


def update_half(targets: Mapping[str, Target], chosen: Mapping[str, str], dirty: frozenset[str]) -> Dag[Node]:
    """Make an update node of each dirty resource, in dependency order."""
    graph: Dag[Node] = Dag()
    for name in dirty:
        required = targets[name].definition.requires & dirty
        graph.add(_update(chosen[name]), *(_update(chosen[other]) for other in required))
    return graph


def cleanup_half(rows: Mapping[str, Extant], garbage: Iterable[str], maybe: set[str]) -> Dag[Node]:
    """Make a cleanup node of each row that goes, or may have to, in reverse dependency order."""
    graph: Dag[Node] = Dag()
    cleaned = maybe | set(garbage)
    for row_id in cleaned:
        graph.add(_cleanup(row_id))
        for required in rows[row_id].requires:
            if required in cleaned:
                graph.add(_cleanup(required), _cleanup(row_id))
    return graph


def find_going(rows: Mapping[str, Extant], cleanups: Dag[Node]) -> frozenset[Node]:
    """Name the cleanup nodes of what is being deleted already, and waits for nothing that is not.

    Nobody can bring these back, so nothing is gained by letting them wait.
    """
    begun = {node: cleanups.requires(node) for node in cleanups if _is_being_deleted(rows[node.resource_id])}
    going: set[Node] = set()
    for node in in_dependency_order(begun):
        if begun[node] <= going:
            going.add(node)
    return frozenset(going)


def _is_being_deleted(row: Extant) -> bool:
    return row.action is Action.DELETE and row.status is Status.IN_PROGRESS


def made_anew(
    targets: Mapping[str, Target], going_on: Mapping[str, Extant], chosen: Mapping[str, str]
) -> dict[str, str]:
    """Return the rows, by name, for which something is going to be made.

    A nested stack makes nothing by itself, and has to be there for what its template says
    of what was in the one before it.
    """
    return {
        name: chosen[name]
        for name, target in targets.items()
        if not target.nested and (name not in going_on or going_on[name].action is Action.INIT)
    }


def wait_for_deletions(
    updates: Dag[Node], rows: Mapping[str, Extant], going: Iterable[Node], anew: Mapping[str, str]
) -> None:
    """Let what is made anew wait until what was there under its name, and is going, is gone.

    Until then it might find its name or its address taken.
    """
    for node in going:
        row_id = anew.get(rows[node.resource_id].name)
        if row_id is not None:
            updates.add(_update(row_id), node)


def join_halves(stack_id: str, updates: Dag[Node], cleanups: Dag[Node], going: frozenset[Node]) -> Dag[Node]:
    """Join both halves by the stack's own nodes.

    Nothing else is cleaned up before the update half is done: an update that fails
    has deleted nothing, and finds on its way back all that it came from.  This
    also puts a replaced row's cleanup after its replacement's update.
    """
    graph: Dag[Node] = Dag()
    if not updates and not cleanups:
        return graph
    middle, end = _update(stack_id), _cleanup(stack_id)
    for half in (updates, cleanups):
        for node in half:
            graph.add(node, *half.requires(node))
    graph.add(middle, *updates.roots())
    for node in cleanups:
        if node not in going and cleanups.requires(node) <= going:
            graph.add(node, middle)
    if cleanups:
        graph.add(end, *cleanups.roots())
    if going:
        graph.add(end, middle)  # which they, and nothing else perhaps, do not wait for
    return graph


def spread_fan_in(graph: Dag[Node]) -> tuple[Dag[Node], dict[Node, Node]]:
    """Put joins between a node and what it requires where that is much.

    Whoever is done counts itself in at its successors, and the row of one that
    thousands count in at would be waited for by all of them.  With about as
    many joins as each of them has members, nobody waits long.
    """
    spread: Dag[Node] = Dag()
    joins: dict[Node, Node] = {}
    for node in graph:
        required = sorted(graph.requires(node))
        if len(required) <= WIDE:
            spread.add(node, *required)
            continue
        for members in _deal(required, math.isqrt(len(required))):
            join = Node(new_id(), node.direction)
            joins[join] = node
            spread.add(join, *members)
            spread.add(node, join)
    return spread, joins


def _deal(items: list[Node], hands: int) -> list[list[Node]]:
    """Deal items out like cards: neighbours, which are done at about the same time, come apart."""
    return [items[first::hands] for first in range(hands)]


def clean_inputs(
    targets: Mapping[str, Target],
    chosen: Mapping[str, str],
    dirty: frozenset[str],
) -> Iterable[tuple[Node, Node]]:
    """Yield (node, sender) for what dirty resources require of clean ones."""
    for name in dirty:
        for other in targets[name].definition.requires - dirty:
            yield _update(chosen[name]), _update(chosen[other])


def _update(row_id: str) -> Node:
    return Node(row_id, Direction.UPDATE)


def _cleanup(row_id: str) -> Node:
    return Node(row_id, Direction.CLEANUP)
