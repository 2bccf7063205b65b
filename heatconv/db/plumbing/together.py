# SPDX-License-Identifier: Apache-2.0
"""Writes of one transaction that go to the database together.

A statement costs a round trip, and a good part of what it costs beside that is the same
whatever it says.  PostgreSQL takes several writes as the parts of one statement; the other databases
get one after the other, in their order.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.sql.dml import UpdateBase

from heatconv.db.plumbing.prepared import LAST, Prepared

_DIVISION_BY_ZERO = "22012"  #: what PostgreSQL says of one

_Parts = tuple[tuple[Prepared, bool], ...]  #: writes, and whether it matters how many rows each has met

_FEW = 64  #: combinations of statements that a process keeps put together; there are about ten


class Writer(Protocol):
    """What a write is given to: a connection, or what collects writes for one."""

    @property
    def dialect(self) -> Dialect:
        """The database's dialect."""

    def execute(self, statement: Prepared, parameters: Mapping[str, Any], /) -> Any:
        """Carry out a write, now or later."""


class _Write(NamedTuple):
    statement: Prepared
    parameters: Mapping[str, Any]
    rows: int | None


class Together:
    """Collects writes of one transaction, of which none may meet a row that another has written.

    For one thread, and as long as its transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._writes: list[_Write] = []
        self._all_met = True  #: by what was sent before everything was there

    @property
    def dialect(self) -> Dialect:
        """The database's dialect."""
        return self._connection.dialect

    def execute(
        self, statement: Prepared, parameters: Mapping[str, Any], /, *, rows: int | None = None
    ) -> None:
        """Collect a write; ``rows``: how many rows it has to meet, if that matters.

        What is there is sent before a write that is like one of it, of which one statement could not have
        both: the thousands of a large stack keep neither memory nor a transaction that pauses meanwhile.
        """
        if any(write.statement is statement for write in self._writes):
            self._all_met = self._carry_out() and self._all_met
        self._writes.append(_Write(statement, parameters, rows))

    def send(self, *, last: bool = False) -> bool:
        """Carry out what was collected; return whether each write so far has met as many rows as it has to.

        If one has not, the transaction is to be rolled back: the others are written all the same.

        Args:
            last: nothing comes after them in their transaction: PostgreSQL commits along with them, unless
                that has to be rolled back.
        """
        self._all_met = self._carry_out(last=last and self._all_met) and self._all_met
        return self._all_met

    def _carry_out(self, *, last: bool = False) -> bool:
        writes, self._writes = self._writes, []
        if last and writes and self.dialect.name == "postgresql":
            return self._send_last(writes)
        if len(writes) > 1 and self.dialect.name == "postgresql":
            met = self._send_as_one(writes)
        else:
            met = [self._connection.execute(each.statement, each.parameters).rowcount for each in writes]
        return all(write.rows in (None, rows) for write, rows in zip(writes, met, strict=True))

    def _send_as_one(self, writes: Sequence[_Write]) -> Sequence[int | None]:
        """Send writes as one statement; return how many rows each has met, None where nobody asked."""
        return self._connection.execute(_combined(_parts(writes)), _parameters(writes)).one()

    def _send_last(self, writes: Sequence[_Write]) -> bool:
        """Send writes as one statement that ends the transaction, or fails if one has not met its rows."""
        expected = {f"expected_{number}": write.rows for number, write in enumerate(writes)}
        asked = {name: rows for name, rows in expected.items() if rows is not None}
        try:
            self._connection.execute(
                _ending(_parts(writes)), {**_parameters(writes), **asked}, execution_options=LAST
            )
        except oslo_db_exception.DBError as error:
            if getattr(getattr(error.inner_exception, "orig", None), "pgcode", None) != _DIVISION_BY_ZERO:
                raise
            return False
        return True


def _parts(writes: Sequence[_Write]) -> _Parts:
    return tuple((write.statement, write.rows is not None) for write in writes)


def _parameters(writes: Sequence[_Write]) -> dict[str, Any]:
    return {name: value for write in writes for name, value in write.parameters.items()}


@functools.lru_cache(maxsize=_FEW)
def _ending(statements: _Parts) -> Prepared:
    """Return the statement that carries out all of them, and fails if one has not met its rows.

    It divides by what is 0 then: a function that raises an error is none of SQL's, and each database
    would have to be given one.
    """
    found = cast("sa.Select[Any]", _combined(statements).statement)
    met = [
        column == sa.bindparam(f"expected_{number}", type_=sa.Integer)
        for number, (column, (_, is_asked)) in enumerate(zip(found.selected_columns, statements, strict=True))
        if is_asked
    ]
    if not met:
        return _combined(statements)
    return Prepared(found.with_only_columns(1 // sa.case((sa.and_(*met), 1), else_=0)))


@functools.lru_cache(maxsize=_FEW)
def _combined(statements: _Parts) -> Prepared:
    """Return the statement that carries out all of them and returns how many rows each has met, if asked."""
    met: list[sa.ColumnElement[Any]] = []
    parts = []
    for number, (statement, is_asked) in enumerate(statements):
        write = cast("UpdateBase", statement.statement)
        part = write.returning(sa.literal_column("1").label("met")).cte(f"write_{number}")
        counted = sa.select(sa.func.count()).select_from(part).scalar_subquery()
        met.append(counted if is_asked else sa.null())
        parts.append(part)
    return Prepared(sa.select(*met).add_cte(*parts))
