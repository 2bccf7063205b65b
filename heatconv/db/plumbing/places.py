# SPDX-License-Identifier: Apache-2.0
"""Which row a sealed value is for: said when it is written, and when it is read.

Each value is bound to its table, its column and its row, and to whose the row is,
by the columns that ``row_of`` names.  So none can be moved: not by who writes into
the database, and not by us.  What is copied is opened where it stands and sealed
anew for where it goes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from heatconv.db.plumbing.types import Closed, Place, Placed, SealedText, bound, joined

_NOTHING: tuple[Any, ...] = (None, {}, [])  #: what most of the values are; they are not encrypted
ROW = "row"  #: under which a table's ``info`` names the columns that its sealed values are bound to


@functools.cache
def row_of(table: sa.Table) -> tuple[str, ...]:
    """Return the columns that a table's sealed values are bound to; none of them ever changes."""
    named: tuple[str, ...] = table.info.get(ROW) or tuple(column.name for column in table.primary_key)
    return named


@functools.cache
def sealed_columns(table: sa.Table) -> frozenset[str]:
    """Return the names of a table's sealed columns."""
    return frozenset(str(column.name) for column in table.c if isinstance(column.type, SealedText))


def place_of(table: sa.Table, column: str, row: Any) -> Place:
    """Return where a column of a row is; the row has the attributes that ``row_of`` names."""
    return Place(str(table.name), column, _bound_to(table, row))


def placed(table: sa.Table, values: Mapping[str, Any], row: Any = None) -> Mapping[str, Any]:
    """Return values for columns of a row, with each that is to be sealed bound to the row.

    Args:
        values: what is written, by column.
        row: what has the attributes, such as a record, that ``row_of`` names; None: the values do.
    """
    sealed = [name for name in sealed_columns(table) if values.get(name) not in _NOTHING]
    if not sealed:
        return values
    parts = _texts([values[name] for name in row_of(table)]) if row is None else _bound_to(table, row)
    of_table, of_row = str(table.name), joined(parts)
    written = dict(values)
    for name in sealed:
        written[name] = Placed(written[name], bound(of_table, name, of_row))
    return written


class Opened:
    """A row of a query, whose sealed values are opened when they are asked for, where they stand.

    It has to have the columns that ``row_of`` names, and all under their own names.  What is not
    sealed, who reads rows by the thousand had better ask of the row itself.
    """

    __slots__ = ("_bound", "_row", "_table")

    def __init__(self, table: sa.Table, row: Any) -> None:
        self._table = table
        self._row = row
        self._bound: tuple[str, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        """Return the value of a column.

        Raises:
            BrokenSeal: it was not sealed for this row.
        """
        value = getattr(self._row, name)
        if not isinstance(value, Closed):
            return value
        if self._bound is None:
            self._bound = _bound_to(self._table, self._row)
        return value.opened(Place(str(self._table.name), name, self._bound))


def _bound_to(table: sa.Table, row: Any) -> tuple[str, ...]:
    return _texts([getattr(row, name) for name in row_of(table)])


def _texts(parts: list[Any]) -> tuple[str, ...]:
    return tuple(["" if part is None else str(part) for part in parts])
