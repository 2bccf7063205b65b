# SPDX-License-Identifier: Apache-2.0
"""Writing to a row that a worker holds: the fence, and the statements behind it.

Statements are built once for each set of columns: building one costs more than
sending it.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.delivery.events import resource_event
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.prepared import ALONE, Prepared
from heatconv.db.plumbing.together import Together
from heatconv.db.plumbing.types import utcnow
from heatconv.db.rows import intact
from heatconv.db.rows import resource as record
from heatconv.db.tables import resource
from heatconv.model.records import POSSIBLE, Attempt, Held, ResourceRow
from heatconv.model.states import Action, Status

#: The fence: the row is still locked by the claim that it was read with.
_HELD = sa.and_(
    resource.c.id == sa.bindparam("key_id"),
    resource.c.engine_id == sa.bindparam("key_engine"),
    resource.c.atomic_key == sa.bindparam("key_atomic"),
)
_SEEN = sa.and_(resource.c.id == sa.bindparam("key_id"), resource.c.atomic_key == sa.bindparam("key_atomic"))
_DELETE = Prepared(sa.delete(resource).where(_HELD))
_THESE = resource.c.id.in_(sa.bindparam("key_ids", expanding=True))
_DELETE_ALL = Prepared(sa.delete(resource).where(_THESE))
_FREE = sa.select(resource).where(_THESE).order_by(resource.c.id).with_for_update(skip_locked=True)
_LOCK_FREE = Prepared(_FREE)
_LOCK_ALL = Prepared(_FREE.with_only_columns(resource.c.id, resource.c.engine_id, resource.c.atomic_key))

#: What letting go of a row sets.
_LET_GO = {"engine_id": sa.null(), "atomic_key": resource.c.atomic_key + 1}


@functools.cache
def _statement(
    guard: str, columns: frozenset[str], *, let_go: bool, touch: bool, metadata_too: bool = False
) -> Prepared:
    statement = sa.update(resource).where(_HELD if guard == "held" else _SEEN)
    values: dict[str, Any] = {column: sa.bindparam(column) for column in columns}
    if let_go:
        values |= _LET_GO
    if touch:
        values["updated_at"] = utcnow()
    if metadata_too:
        values["metadata_key"] = resource.c.metadata_key + 1
    return Prepared(statement.values(values))


@functools.cache
def _writing(columns: frozenset[str], *, let_go: bool, touch: bool) -> bulk.Update:
    """Return what writes to rows that are held, as ``_statement`` does to one."""
    return bulk.Update(
        resource,
        ("id", "engine_id", "atomic_key"),
        sorted(columns),
        same=(_LET_GO if let_go else {}) | ({"updated_at": utcnow()} if touch else {}),
    )


@functools.cache
def _writing_unheld(columns: frozenset[str]) -> bulk.Update:
    """Return what writes to rows that nobody holds, and dates them."""
    anew = {"updated_at": utcnow(), "atomic_key": resource.c.atomic_key + 1}
    return bulk.Update(resource, ("id", "atomic_key"), sorted(columns), same=anew)


@functools.cache
def _taking(columns: frozenset[str], *, touch: bool) -> bulk.Update:
    """Return what locks rows and writes to them."""
    return bulk.Update(
        resource,
        ("id", "atomic_key"),
        sorted(columns),
        same={"engine_id": sa.bindparam("me"), "atomic_key": resource.c.atomic_key + 1}
        | ({"updated_at": utcnow()} if touch else {}),
    )


@dataclass(frozen=True, kw_only=True)
class Write:
    """What is to be written to a row that is held, or that it is dropped.

    ``let_go`` unlocks it, ``touch`` dates it.
    """

    row: ResourceRow
    columns: Mapping[str, Any] = field(default_factory=dict)
    let_go: bool = False
    touch: bool = False
    drop: bool = False


@dataclass(frozen=True, kw_only=True)
class Take:
    """A row to be locked, and what is written to it in the same breath; ``touch`` dates it."""

    row: ResourceRow
    columns: Mapping[str, Any]
    engine_id: str  #: of the worker that takes it
    touch: bool = False


def try_write(
    connection: Connection,
    row: ResourceRow,
    columns: Mapping[str, Any],
    *,
    let_go: bool = False,
    touch: bool = False,
    metadata_too: bool = False,
    alone: bool = False,
) -> bool:
    """Write to a row that is held, fenced.

    ``let_go`` unlocks it, ``touch`` dates it, ``metadata_too`` voids whatever
    another is about to write to its metadata; ``alone``: nothing else is done in the transaction.
    """
    statement = _statement("held", frozenset(columns), let_go=let_go, touch=touch, metadata_too=metadata_too)
    parameters = {**placed(resource, columns, row), **_fence(row)}
    options = ALONE if alone else None
    return connection.execute(statement, parameters, execution_options=options).rowcount == 1


def write_one(writes: Together, write: Write) -> None:
    """Write to a row that is held, or drop it, fenced; sending the writes says whether it was held."""
    if write.drop:
        writes.execute(_DELETE, _fence(write.row), rows=1)
        return
    statement = _statement("held", frozenset(write.columns), let_go=write.let_go, touch=write.touch)
    parameters = {**placed(resource, write.columns, write.row), **_fence(write.row)}
    writes.execute(statement, parameters, rows=1)


def write_all(connection: Connection, wanted: Sequence[Write], writes: Together) -> set[str]:
    """Write to rows that are held, or drop them, fenced; return the ids of those that are held.

    They are locked here, and what is written is left with ``writes``.  One that another
    transaction has locked right now is left out, not waited for.
    """
    locked = lock_all(connection, [write.row for write in wanted])
    alike: dict[bulk.Update, list[bulk.Row]] = defaultdict(list)
    dropped = []
    for write in wanted:
        row = write.row
        if row.id not in locked:
            continue
        if write.drop:
            dropped.append(row.id)
            continue
        statement = _writing(frozenset(write.columns), let_go=write.let_go, touch=write.touch)
        alike[statement].append(
            {**write.columns, **_named(row), "engine_id": row.engine_id, "atomic_key": row.atomic_key}
        )
    for statement, rows in alike.items():
        statement.execute(writes, rows)
    if dropped:
        writes.execute(_DELETE_ALL, {"key_ids": dropped})
    return locked


def write_unheld(writes: Together, wanted: Iterable[Write]) -> None:
    """Write to rows that nobody holds, and date them; this transaction has to have locked them already."""
    alike: dict[bulk.Update, list[bulk.Row]] = defaultdict(list)
    for write in wanted:
        row = {**write.columns, **_named(write.row), "atomic_key": write.row.atomic_key}
        alike[_writing_unheld(frozenset(write.columns))].append(row)
    for statement, rows in alike.items():
        statement.execute(writes, rows)


def take_all(writes: Together, taken: Sequence[Take]) -> None:
    """Take rows, WHERE each is as read; several have to be locked by this transaction already.

    If one alone is not as it was read, sending the writes says so.
    """
    if len(taken) == 1:  # most are, in a chain, and this is planned in half the time
        writes.execute(*_one_taken(taken[0]), rows=1)
        return
    alike: dict[bulk.Update, list[bulk.Row]] = defaultdict(list)
    for take in taken:
        statement = _taking(frozenset(take.columns), touch=take.touch)
        row = {**take.columns, **_named(take.row), "atomic_key": take.row.atomic_key}
        alike[statement].append(row)
    for statement, rows in alike.items():
        statement.execute(writes, rows, {"me": taken[0].engine_id})


def _one_taken(take: Take) -> tuple[Prepared, Mapping[str, Any]]:
    """Return what locks a row, WHERE id AND atomic_key = as read, and writes to it."""
    row = take.row
    columns = {
        **placed(resource, take.columns, row),
        "engine_id": take.engine_id,
        "atomic_key": row.atomic_key + 1,
    }
    statement = _statement("seen", frozenset(columns), let_go=False, touch=take.touch)
    return statement, {**columns, "key_id": row.id, "key_atomic": row.atomic_key}


def lock_free(connection: Connection, ids: Collection[str]) -> dict[str, ResourceRow]:
    """Lock those rows that no other transaction has locked until this one ends; return them by their ids.

    One whose seal is broken is left out: it is not to keep others from their ends.
    """
    found = connection.execute(_LOCK_FREE, {"key_ids": list(ids)})
    return {row.id: row for row in intact(found, record)}


def lock_all(connection: Connection, read: Sequence[ResourceRow]) -> set[str]:
    """Lock rows until the transaction ends; return the ids of those that are locked by whom they were.

    One that another transaction has locked right now is left out, not waited for.
    """
    if not read:
        return set()
    as_read = {row.id: (row.engine_id, row.atomic_key) for row in read}
    found = connection.execute(_LOCK_ALL, {"key_ids": list(as_read)})
    return {row.id for row in found if as_read[row.id] == (row.engine_id, row.atomic_key)}


_other = resource.alias("other")
_HOLD = Prepared(
    sa.select(
        sa.exists()
        .where(
            _other.c.stack_id == resource.c.stack_id,
            _other.c.name == resource.c.name,
            _other.c.action == Action.DELETE,
        )
        .label("clearing")
    )
    .where(_HELD)
    .with_for_update(of=resource)
)


@dataclass(frozen=True)
class Hold:
    """A claim that counts until the transaction ends."""

    clearing: bool  #: another row of the same name is being deleted


def hold(connection: Connection, claim: Held) -> Hold | None:
    """Hold on to a claim on a row until the transaction ends; None: it does not count any more."""
    key = {"key_id": claim.id, "key_engine": claim.engine_id, "key_atomic": claim.atomic_key}
    found = connection.execute(_HOLD, key).first()
    return None if found is None else Hold(clearing=bool(found.clearing))


def begun(row: ResourceRow, attempt: Attempt) -> dict[str, Any]:
    """Return the columns that say that an action is under way."""
    return {
        "type": attempt.definition.type,
        "action": attempt.action,
        "status": Status.IN_PROGRESS,
        "status_reason": "state changed",
        "progress": attempt.to_json(),
        "hook": None,
        "requires": required(row, attempt.requires),
    }


def required(row: ResourceRow, requires: Iterable[str]) -> dict[str, int]:
    """Return what a row requires until it is converged with some rows, or will not be.

    So long the real thing may depend on the old as well as on the new; what it was
    last converged with stays known.
    """
    return {**dict.fromkeys(requires, POSSIBLE), **row.requires}


def begun_event(row: ResourceRow, attempt: Attempt) -> dict[str, Any]:
    """Return the event that an action is under way."""
    return resource_event(
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=attempt.definition.type,
        physical_id=row.physical_id,
        action=attempt.action,
        status=Status.IN_PROGRESS,
        reason="state changed",
    )


def _named(row: ResourceRow) -> dict[str, Any]:
    """Return what finds a row, and what is written to it is bound to."""
    return {"stack_id": row.stack_id, "id": row.id}


def _fence(row: ResourceRow) -> dict[str, Any]:
    return {"key_id": row.id, "key_engine": row.engine_id, "key_atomic": row.atomic_key}
