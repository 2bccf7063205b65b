# SPDX-License-Identifier: Apache-2.0
"""The rows that a traversal begins with: those there are, what is newly wanted of each, and new ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import sync_points
from heatconv.db.observation import observable, taking_up
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.together import Writer
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import resource, resource_observed, stack
from heatconv.model.deletion import LEAVING, newer_policies
from heatconv.model.nodes import NodeData
from heatconv.model.plan import Plan, Target
from heatconv.model.records import Extant, Held
from heatconv.model.states import Action, DeletionPolicy, Status

_EXTANT = (  # in the order in which ``rows.extant`` takes them
    resource.c.id,
    resource.c.name,
    resource.c.desired_sha1,
    resource.c.applied_sha1,
    resource.c.requires,
    resource.c.attributes,
    resource.c.output_version,
    resource.c.action,
    resource.c.status,
    resource.c.engine_id,
    resource.c.deletion_policy,
    # What was handed over is to be taken back, as drift is to be put right.
    sa.or_(taking_up.is_open(), resource.c.handover.is_not(None)).label("drifted"),
)


_EXTANT_OF_STACK = Prepared(
    sa.select(*_EXTANT)
    .select_from(resource.outerjoin(resource_observed, observable.HOLDS))
    .where(resource.c.stack_id == sa.bindparam("of_stack"))
)


def extant_rows(connection: Connection, stack_id: str) -> list[Extant]:
    """Return a stack's resources, as a plan sees them."""
    found = connection.execute(_EXTANT_OF_STACK, {"of_stack": stack_id})
    # Sorted here: PostgreSQL goes by the rules of some language, which takes it longer.
    return sorted((rows.extant(row, stack_id) for row in found), key=attrgetter("id"))


def lock_rows(connection: Connection, stack_id: str) -> None:
    """Lock a stack's resources, after whoever is replacing one; only a later statement sees the new row."""
    mine = sa.select(resource.c.id).where(resource.c.stack_id == stack_id).order_by(resource.c.id)
    connection.execute(mine.with_for_update()).all()


_OUTPUT = (
    resource.c.id,
    resource.c.stack_id,
    resource.c.name,
    resource.c.reference_id,
    resource.c.attributes,
    resource.c.output_version,
)


def outputs_of(connection: Connection, row_ids: Collection[str]) -> dict[str, NodeData]:
    """Return what rows tell those that require them, by their ids."""
    return {
        row.id: rows.output_of(row)
        for some in sync_points.portions(sorted(row_ids))
        for row in connection.execute(sa.select(*_OUTPUT).where(resource.c.id.in_(some)))
    }


def write_rows(connection: Connection, stack_id: str, targets: Mapping[str, Target], plan: Plan) -> None:
    """Write what is desired of each row that is not clean."""
    if plan.garbage:
        for ids in sync_points.portions(sorted(plan.garbage)):
            connection.execute(_DROP_ROWS, {"ids": ids})
    kept = sorted(plan.dirty - plan.created)
    if kept:
        _KEEP_ROWS.execute(
            connection, [_desired(stack_id, plan.chosen[name], targets[name]) for name in kept]
        )
    add_rows(connection, [(stack_id, targets, plan)])


def add_rows(writer: Writer, wanted: Iterable[tuple[str, Mapping[str, Target], Plan]]) -> None:
    """Write the rows that plans create, each for a stack by its id."""
    _ADD_ROWS.execute(
        writer,
        [
            _new_row(stack_id, plan.chosen[name], targets[name])
            for stack_id, targets, plan in wanted
            for name in sorted(plan.created)
        ],
    )


def write_policies(
    connection: Connection, extant: Sequence[Extant], policies: Mapping[str, DeletionPolicy]
) -> tuple[str, ...]:
    """Write what is to become of rows that are not desired anew.

    Returns the rows that a worker is deleting and is to give up.
    """
    if not policies:
        return ()
    written = [{"id": row_id, "deletion_policy": policies[row_id]} for row_id in sorted(policies)]
    _WRITE_POLICIES.execute(connection, written)
    return tuple(
        row.id
        for row in extant
        if row.locked and row.action is Action.DELETE and policies.get(row.id) in LEAVING
    )


#: What every new row has.
_NEW: dict[str, Any] = {
    "version": 0,
    "requires": {},
    "attributes": {},
    "output_version": 0,
    "action": Action.INIT,
    "status": Status.COMPLETE,
    "status_reason": "",
    "atomic_key": 0,
    "data": {},
}
_ADD_ROWS = bulk.Insert(
    resource,
    [
        "id",
        "stack_id",
        "name",
        "type",
        "desired",
        "desired_sha1",
        "deletion_policy",
        "foreseen",
        "wanted_attributes",
        "metadata",
    ],
    same={
        "created_at": utcnow(),
        **{name: sa.literal(value, resource.c[name].type) for name, value in _NEW.items()},
    },
)

#: A row that nobody holds gets a new ``atomic_key``: a worker of the old traversal that has read
#: it, but not locked it yet, comes too late.
NEW_KEY = resource.c.atomic_key + sa.case((resource.c.engine_id.is_(None), 1), else_=0)
_DROP_ROWS = Prepared(
    sa.update(resource)
    .where(resource.c.id.in_(sa.bindparam("ids", expanding=True)), resource.c.desired_sha1.is_not(None))
    .values(desired=sa.null(), desired_sha1=sa.null(), atomic_key=NEW_KEY)
)
_KEEP_ROWS = bulk.Update(
    resource,
    ["id"],
    ["desired", "desired_sha1", "deletion_policy", "foreseen", "wanted_attributes"],
    same={"replaced_by": sa.null(), "atomic_key": NEW_KEY},
)
_WRITE_POLICIES = bulk.Update(resource, ["id"], ["deletion_policy"], same={"atomic_key": NEW_KEY})


def _desired(stack_id: str, row_id: str, target: Target) -> dict[str, Any]:
    return {
        "id": row_id,
        "stack_id": stack_id,
        "desired": target.definition.to_json(),
        "desired_sha1": target.definition.sha1,
        "deletion_policy": target.definition.deletion_policy,
        "foreseen": target.foreseen and target.foreseen.to_json(),
        "wanted_attributes": sorted(target.attributes),
    }


def _new_row(stack_id: str, row_id: str, target: Target) -> dict[str, Any]:
    desired = _desired(stack_id, row_id, target)
    return desired | {
        "name": target.definition.name,
        "type": target.definition.type,
        "metadata": desired["desired"]["metadata"],
    }


def leave_in_predecessors(
    connection: Connection, owner: Held, targets: Mapping[str, Target]
) -> tuple[str, ...]:
    """Write what a nested stack that takes the place of others says is to become of their resources.

    They are nested in what had the owner's name before, and are being deleted with that,
    unless that is to be left as it is: then so is all that is in it.
    Returns the rows that a worker is deleting and is to give up.
    """
    new, old = resource.alias("new"), resource.alias("old")
    left_whole = sa.func.coalesce(old.c.deletion_policy.in_(LEAVING), sa.false())
    before = (
        sa.select(stack.c.id)
        .join(old, old.c.id == stack.c.owner_resource_id)
        .join(new, sa.and_(new.c.stack_id == old.c.stack_id, new.c.name == old.c.name))
        .where(new.c.id == owner.id, old.c.action == Action.DELETE, ~left_whole)
        .where(stack.c.deleted_at.is_(None))
    )
    left: tuple[str, ...] = ()
    for stack_id in connection.scalars(before).all():
        extant = extant_rows(connection, stack_id)
        policies = dict(newer_policies(targets, extant, {}, frozenset()))
        left += write_policies(connection, extant, policies)
    return left
