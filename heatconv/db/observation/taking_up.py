# SPDX-License-Identifier: Apache-2.0
"""How the next traversal takes up what has drifted: the rows say what is there, so that checks find it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.observation.observable import HOLDS, SEEN, row_of
from heatconv.db.observation.observations import is_secret, live_values
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import resource, resource_observed
from heatconv.model.definition import Definition
from heatconv.model.drift import OF_PROPERTIES, Handling, Kind
from heatconv.model.records import Attempt, ResourceRow, changed
from heatconv.model.secrets import texts_in
from heatconv.model.states import Action, Status

#: The digest of no definition.  Without any, a row would count as one that was given up in the midst of an
#: action, which no traversal goes on with.
_OF_NOTHING = ""


def is_open() -> sa.ColumnElement[bool]:
    """Tell, of a row joined by ``HOLDS``, whether the next traversal is to put it right."""
    return sa.and_(
        resource_observed.c.kind.is_not(None), resource_observed.c.handling == Handling.OPEN
    ).label("drifted")


def take_up(connection: Connection, ids: Collection[str]) -> None:
    """Make the rows of drifted resources say what is really there, within a transaction that prepares.

    What changed has the live values laid over what was applied, so that whoever
    checks it finds the difference; what is gone or broken has failed its check.
    The transaction changes the rows' ``atomic_key`` too.
    """
    for row, columns in _taken_up(connection, ids):
        changes = placed(resource, columns, row)
        connection.execute(sa.update(resource).where(resource.c.id == row.id).values(changes))


@reading
def as_taken_up(connection: Connection, ids: Collection[str]) -> dict[str, ResourceRow]:
    """Return the rows of drifted resources as ``take_up`` would make them, by their ids."""
    found = connection.execute(sa.select(resource).where(resource.c.id.in_(ids))).all() if ids else []
    read = {row.id: rows.resource(row) for row in found}
    return {row.id: _with(read[row.id], columns) for row, columns in _taken_up(connection, read)}


def _with(row: ResourceRow, columns: Mapping[str, Any]) -> ResourceRow:
    fields = {_FIELDS.get(name, name): value for name, value in columns.items()}
    if fields.get("applied") is not None:
        fields["applied"] = Definition.from_json(fields["applied"])
    if "progress" in fields:
        fields["progress"] = Attempt.from_json(fields["progress"])
    taken: ResourceRow = changed(row, **fields)
    return taken


_FIELDS = {"status_reason": "reason"}  #: of columns, the names that records have for them


def _taken_up(connection: Connection, ids: Collection[str]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each row that has drifted, and the columns that say what is really there."""
    query = (
        sa.select(
            *SEEN, resource.c.progress, resource_observed.c.kind, resource_observed.c.reason.label("said")
        )
        .select_from(resource.join(resource_observed, HOLDS))
        .where(resource.c.id.in_(ids))
    )
    found = connection.execute(query).all() if ids else []
    differing = [(row.stack_id, row.name) for row in found if row.kind in OF_PROPERTIES]
    live = live_values(connection, differing)
    for row in found:
        if row.kind in OF_PROPERTIES:
            yield row, _laid_over(row_of(row), live.get((row.stack_id, row.name), {}))
        elif row.kind == Kind.INSIDE:
            yield row, _unsure_inside(row_of(row)) | _begun_again(Opened(resource, row).progress)
        elif row.kind is not None:
            yield row, {"action": Action.CHECK, "status": Status.FAILED, "status_reason": row.said}


def _laid_over(row: ResourceRow, live: dict[str, Any]) -> dict[str, Any]:
    applied = row.applied
    if applied is None:
        return {"applied_sha1": None}
    hidden = {text for name, value in live.items() if is_secret(applied, name) for text in texts_in(value)}
    real = replace(
        applied,
        properties={**applied.properties, **live},
        secrets=tuple(dict.fromkeys((*applied.secrets, *sorted(hidden)))),
    )
    return {"applied": real.to_json(), "applied_sha1": real.sha1}


def _unsure_inside(row: ResourceRow) -> dict[str, Any]:
    """Return what makes a check look into a nested stack: whatever it was given may be so no more."""
    if row.applied is None:
        return {"applied_sha1": None}
    unsure = replace(row.applied, inherits="")
    # Of one that was given nothing the digest is the same, and must not be.
    return {"applied": unsure.to_json(), "applied_sha1": _OF_NOTHING}


def _begun_again(progress: dict[str, Any] | None) -> dict[str, Any]:
    """Return what makes whoever takes up the action of an owner that was left in the middle begin it again.

    Its nested stack may have come to its end long ago: there would be nothing to wait for.
    """
    return {} if progress is None else {"progress": progress | {"started": False}}
