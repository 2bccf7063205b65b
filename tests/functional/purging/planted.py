# SPDX-License-Identifier: Apache-2.0
"""Rows of every kind that a stack can have, put into a database at once."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import Json, Sealed, SealedText
from heatconv.db.tables import (
    event,
    event_sent,
    event_sink,
    graph_edge,
    metadata,
    raw_template,
    resource,
    resource_data,
    resource_healing,
    resource_observed,
    resource_properties_observed,
    snapshot,
    stack,
    stack_observed,
    stack_tag,
    sync_point,
    sync_point_input,
    wish,
)

NOW = datetime.now(UTC).replace(tzinfo=None)
YESTERDAY, LONG_AGO = NOW - timedelta(days=1), NOW - timedelta(days=100)
DAY = 86400.0
NUMBERS = itertools.count(1)

Everything = dict[str, list[str]]


def add(database: Database, table: sa.Table, **values: Any) -> Any:
    """Add a row, and return its number if it has one; what has to have a value and is given none has any."""
    generated = [column for column in table.primary_key if isinstance(column.type, sa.BigInteger)]
    needed = [column for column in table.c if not column.nullable and column.server_default is None]
    filled = {
        column.name: anything(column)
        for column in needed
        if column not in generated or len(table.primary_key) > 1
    }
    with database.engine.begin() as connection:
        added = connection.execute(sa.insert(table).values({**filled, **values}))
        return next(iter(added.inserted_primary_key or ())) if generated else None


def anything(column: sa.Column[Any]) -> Any:
    if isinstance(column.type, Json | Sealed):
        return {}
    if isinstance(column.type, SealedText):
        return ""
    return {bool: False, int: 0, str: "x", datetime: LONG_AGO}[column.type.python_type]


def add_stack(
    database: Database, name: str, deleted_at: datetime | None = None, *, events: int = 2, **values: Any
) -> None:
    """Add a stack that has, beside its own row, a template, a tag and a snapshot, and so many events."""
    living = {"live_name": name} if deleted_at is None else {}
    template = add(database, raw_template, stack_id=name)
    known = {"raw_template_id": template, "root_stack_id": name, **living, **values}
    add(database, stack, id=name, name=name, deleted_at=deleted_at, **known)
    add(database, stack_tag, stack_id=name, tag="tag")
    add(database, snapshot, id=name, stack_id=name)
    for _ in range(events):
        add(database, event, uuid=f"event-{next(NUMBERS)}", stack_id=name)


def add_all(database: Database, name: str, deleted_at: datetime | None = None, **values: Any) -> None:
    """Add a stack that has rows in every table in which a stack can have some."""
    add_stack(database, name, deleted_at, **values)
    for number in range(2):
        row, sink = f"{name}-row-{number}", f"{name}-sink-{number}"
        add(database, resource, id=row, stack_id=name, name=row)
        add(database, resource_data, resource_id=row)
        add(database, wish, resource_id=row)
        add(database, resource_observed, resource_id=row, stack_id=name)
        add(database, resource_healing, stack_id=name, resource_name=row)
        add(database, resource_properties_observed, stack_id=name, resource_name=row)
        add(database, graph_edge, traversal_id=name, resource_id=row, stack_id=name)
        add(database, sync_point, traversal_id=name, resource_id=row, stack_id=name)
        add(database, sync_point_input, traversal_id=name, resource_id=row, stack_id=name)
        add(database, event_sink, id=sink, stack_id=name)
        add(database, event_sent, sink_id=sink, event_id=number)
    add(database, stack_observed, stack_id=name)


def names(database: Database, table: sa.Table = stack) -> list[str]:
    """Return the names of the stacks that have rows in a table, one for each row."""
    column = table.c.id if table is stack else table.c.stack_id
    with database.engine.connect() as connection:
        return sorted(connection.scalars(sa.select(column)))


#: The tables as they are on disk, with nothing unsealed or converted.
_RAW = {name: sa.table(name, *map(sa.column, table.c.keys())) for name, table in metadata.tables.items()}


def rows(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table."""
    with database.engine.connect() as connection:
        return {
            name: [dict(row) for row in connection.execute(sa.select(table)).mappings()]
            for name, table in _RAW.items()
        }


def put(database: Database, planted: dict[str, list[dict[str, Any]]]) -> None:
    """Put rows that were there once back into their tables."""
    with database.engine.begin() as connection:
        for name, those in planted.items():
            if those:
                connection.execute(sa.insert(_RAW[name]), those)


def everything(database: Database) -> Everything:
    """Return every row of every table, as texts."""
    return {name: sorted(map(repr, those)) for name, those in rows(database).items()}
