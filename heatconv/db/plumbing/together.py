# SPDX-License-Identifier: Apache-2.0
"""Writes of one transaction that go to the database together, maybe with what is read after them.

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

    def read(self, query: Prepared, parameters: Mapping[str, Any]) -> Sequence[Any]:
        """Carry out what was collected, and return what a query finds after that.

        If a write has not met as many rows as it has to, which ``send`` says then, nothing is found.

        Args:
            query: it has names for its columns, and on PostgreSQL does not see what was written.
            parameters: the query's.
        """
        if self._writes and self.dialect.name == "postgresql":
            return self._read_after(query, parameters)
        return self._connection.execute(query, parameters).all() if self.send() else ()

    def _read_after(self, query: Prepared, parameters: Mapping[str, Any]) -> Sequence[Any]:
        """Send the writes and a query as one statement."""
        writes, self._writes = self._writes, []
        asked = {**_parameters(writes), **_expected(writes), **parameters}
        rows = self._connection.execute(_followed(_parts(writes), query), asked).all()
        self._all_met = rows[0].is_met and self._all_met
        return [row for row in rows if row.is_found]

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
        try:
            self._connection.execute(
                _ending(_parts(writes)),
                {**_parameters(writes), **_expected(writes)},
                execution_options=LAST,
            )
        except oslo_db_exception.DBError as error:
            if getattr(getattr(error.inner_exception, "orig", None), "pgcode", None) != _DIVISION_BY_ZERO:
                raise
            return False
        return True


def _parts(writes: Sequence[_Write]) -> _Parts:
    return tuple((write.statement, write.rows is not None) for write in writes)


def _parameters(writes: Sequence[_Write]) -> dict[str, Any]:
    """Return the parameters of all; what two have in common has to be the same for both."""
    parameters: dict[str, Any] = {}
    for write in writes:
        if any(parameters[name] != write.parameters[name] for name in parameters.keys() & write.parameters):
            raise ValueError("two writes that are to be one statement give a parameter different values")
        parameters |= write.parameters
    return parameters


def _expected(writes: Sequence[_Write]) -> dict[str, int]:
    return {f"expected_{number}": each.rows for number, each in enumerate(writes) if each.rows is not None}


@functools.lru_cache(maxsize=_FEW)
def _ending(statements: _Parts) -> Prepared:
    """Return the statement that carries out all of them, and fails if one has not met its rows.

    It divides by what is 0 then: a function that raises an error is none of SQL's, and each database
    would have to be given one.
    """
    if not any(is_asked for _, is_asked in statements):
        return _combined(statements)
    parts = _ctes(statements)
    is_met = sa.and_(*_met_as_asked(parts, statements))
    return Prepared(sa.select(1 // sa.case((is_met, 1), else_=0)).add_cte(*parts))


@functools.lru_cache(maxsize=_FEW)
def _followed(statements: _Parts, query: Prepared) -> Prepared:
    """Return the statement that carries out all of them, and then looks for what a query finds.

    Whether they have met their rows, and whether anything was found, each row of it says, of which there is
    one at the least.  The query depends on how many rows each has met, so that it locks nothing before.
    """
    parts = _ctes(statements)
    others = (part for part, (_, is_asked) in zip(parts, statements, strict=True) if not is_asked)
    is_met = sa.and_(*_met_as_asked(parts, statements), *(_met(part) >= 0 for part in others))
    found = cast("sa.Select[Any]", query.statement).add_columns(sa.true().label("is_found"))
    after = found.where(is_met).cte("after")
    writes = sa.select(is_met.label("is_met")).subquery("writes")
    joined = writes.outerjoin(after, sa.true())
    columns: list[sa.ColumnElement[Any]] = [writes.c.is_met, *after.c]
    both: sa.Select[Any] = sa.select(*columns)
    return Prepared(both.select_from(joined).add_cte(*parts))


@functools.lru_cache(maxsize=_FEW)
def _combined(statements: _Parts) -> Prepared:
    """Return the statement that carries out all of them and returns how many rows each has met, if asked."""
    parts = _ctes(statements)
    met: list[sa.ColumnElement[Any]] = [
        _met(part) if is_asked else sa.null() for part, (_, is_asked) in zip(parts, statements, strict=True)
    ]
    return Prepared(sa.select(*met).add_cte(*parts))


def _ctes(statements: _Parts) -> list[sa.CTE]:
    return [
        cast("UpdateBase", write.statement)
        .returning(sa.literal_column("1").label("met"))
        .cte(f"write_{number}")
        for number, (write, _) in enumerate(statements)
    ]


def _met(part: sa.CTE) -> sa.ScalarSelect[int]:
    """Return how many rows a write has met."""
    return sa.select(sa.func.count()).select_from(part).scalar_subquery()


def _met_as_asked(parts: Sequence[sa.CTE], statements: _Parts) -> list[sa.ColumnElement[bool]]:
    """Return, for each write of which it matters, whether it has met as many rows as it has to."""
    return [
        _met(part) == sa.bindparam(f"expected_{number}", type_=sa.Integer)
        for number, (part, (_, is_asked)) in enumerate(zip(parts, statements, strict=True))
        if is_asked
    ]
