# SPDX-License-Identifier: Apache-2.0
"""How rows go that nobody needs: their keys are read first, and they are deleted by these.

A DELETE that has to look for its rows locks what it looks at, on some databases, and takes as long as
that is much.  One that has their keys locks these rows and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

ROWS = 1000  #: rows that go in one transaction

Key = tuple[Any, ...]  #: the values of a row's primary key


def keys(
    connection: Connection, table: sa.Table, *where: sa.ColumnElement[bool], limit: int
) -> Sequence[Key]:
    """Return the keys of some rows of a table, whichever are found first; nothing is locked."""
    query = sa.select(*table.primary_key).where(*where).limit(limit)
    return [tuple(row) for row in connection.execute(query)]


def keys_after(
    connection: Connection, table: sa.Table, last: Key | None, *where: sa.ColumnElement[bool], limit: int
) -> Sequence[Key]:
    """Return the keys of the next rows of a table, in their order; after None come the first."""
    query = sa.select(*table.primary_key).where(*where).order_by(*table.primary_key).limit(limit)
    if last is not None:
        query = query.where(_is_after(table, last))
    return [tuple(row) for row in connection.execute(query)]


def drop(
    connection: Connection, table: sa.Table, found: Sequence[Key], *where: sa.ColumnElement[bool]
) -> int:
    """Drop rows by their keys, WHERE they still are as they were found; return how many they were."""
    if not found:
        return 0
    first, *others = table.primary_key
    mine = [first.in_(sorted({key[0] for key in found}))]
    if others:  # by the first column as well, which MariaDB looks up in the index
        mine.append(sa.tuple_(first, *others).in_(found))
    return int(connection.execute(sa.delete(table).where(*mine, *where)).rowcount)


def _is_after(table: sa.Table, last: Key) -> sa.ColumnElement[bool]:
    key = list(table.primary_key)
    values = [sa.literal(value, column.type) for column, value in zip(key, last, strict=True)]
    if len(key) == 1:
        return key[0] > values[0]
    # The first part is what every database looks up in its index.
    return sa.and_(key[0] >= values[0], sa.tuple_(*key) > sa.tuple_(*values))
