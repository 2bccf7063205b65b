# SPDX-License-Identifier: Apache-2.0
"""Many rows as one parameter: a JSON text, which the database unpacks into a table.

A statement with a parameter for each value of each row is put together anew for every
number of rows, and parsed value by value; many statements are planned one by one.
This way one statement, which never changes, is as cheap for a hundred rows as for one.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from heatconv.db.plumbing import collation
from heatconv.db.plumbing.places import placed, sealed_columns
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.together import Writer
from heatconv.db.plumbing.types import LongText, SealedText

MOST = 1000  #: rows in one statement, so that none grows past what a database takes

#: Numbers of parameters: no two statements have one of the same name, and so can be parts of one.
_NUMBERS = itertools.count(1)

#: Characters as they are: of two escapes that stand for one, MariaDB makes an empty text.
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)

Row = Mapping[str, Any]
_NONE: Row = {}


class _Unpacked(FunctionElement[Any]):
    """The table that a list of JSON objects is unpacked into."""

    name = "unpacked"
    inherit_cache = True

    def __init__(self, columns: Sequence[sa.ColumnClause[Any]]) -> None:
        number = next(_NUMBERS)
        self.rows = sa.bindparam(f"given_rows_{number}", type_=sa.Text)
        self.count = sa.bindparam(f"given_count_{number}", type_=sa.Integer)
        self.columns_given = columns
        # By its clauses SQLAlchemy's cache tells one statement from another.
        described: sa.ColumnClause[Any] = sa.literal_column(
            " ".join(f"{column.name}:{column.type!r}" for column in columns)
        )
        super().__init__(self.rows, self.count, described)

    def typed(self, compiler: SQLCompiler, spell: str, charset: str = "") -> str:
        """Return all columns, each spelt by its ``name`` and ``type``, and a ``charset`` if it is a text."""
        processed = compiler.dialect.type_compiler_instance.process
        return ", ".join(
            spell.format(
                name=column.name,
                type=processed(column.type),
                charset=charset if isinstance(column.type, sa.String) else "",
            )
            for column in self.columns_given
        )


@compiles(_Unpacked, "postgresql")
def _postgresql(element: _Unpacked, compiler: SQLCompiler, **kwargs: Any) -> str:
    rows, count = (compiler.process(each, **kwargs) for each in (element.rows, element.count))
    columns = element.typed(compiler, "{name} {type}")
    unpacked = f"json_to_recordset(CAST({rows} AS json)) AS unpacked({columns})"
    # Without a limit PostgreSQL plans for a hundred rows, and would rather read a table of some thousand.
    return f"(SELECT * FROM {unpacked} LIMIT {count})"  # noqa: S608 - names and types of our own columns; values are bound


@compiles(_Unpacked, "mysql")
def _mysql(element: _Unpacked, compiler: SQLCompiler, **kwargs: Any) -> str:
    rows = compiler.process(element.rows, **kwargs)
    # Texts of two collations cannot be compared, and the database may have been made with another
    # one than its tables have.
    charset = f" CHARACTER SET utf8mb4 COLLATE {collation.of_mysql(compiler.dialect)}"
    columns = element.typed(
        compiler, "{name} {type}{charset} PATH '$.{name}' ERROR ON ERROR", charset=charset
    )
    return f"JSON_TABLE({rows}, '$[*]' COLUMNS ({columns}))"


@compiles(_Unpacked, "sqlite")
def _sqlite(element: _Unpacked, compiler: SQLCompiler, **kwargs: Any) -> str:
    rows = compiler.process(element.rows, **kwargs)
    columns = element.typed(compiler, "json_extract(value, '$.{name}') AS {name}")
    return f"(SELECT {columns} FROM json_each({rows}))"  # noqa: S608 - names of our own columns; values are bound


class Given:
    """Some columns of rows that a statement is given."""

    def __init__(
        self,
        table: sa.Table,
        columns: Iterable[str],
        *,
        where: Collection[str] = (),
        dumped: Collection[str] = (),
    ) -> None:
        """Name the columns, those ``where`` rows are found by, and those whose JSON data are texts already.

        Rows that have something to be sealed have the columns as well that ``row_of`` names.
        Texts are unpacked as texts of any length: MariaDB would cut them, and say nothing; what
        is too long is refused by the column that it is written to.
        """
        self._table = table
        self._columns = [table.c[name] for name in (*where, *columns)]
        self._dumped = frozenset(dumped)
        self._seals = not sealed_columns(table).isdisjoint(column.name for column in self._columns)
        unpacked = [
            sa.column(
                column.name,
                LongText if isinstance(column.type, sa.String) and column.name not in where else column.type,
            )
            for column in self._columns
        ]
        given = _Unpacked(unpacked)
        #: The columns, as a statement that takes the rows refers to them.
        self.c = given.table_valued(*unpacked, name="given").c
        self._rows, self._count = given.rows.key, given.count.key

    def portions(self, writer: Writer, rows: Sequence[Row]) -> Iterable[dict[str, Any]]:
        """Yield the parameters of one statement after the other that takes rows."""
        processors = _processors(self, writer.dialect)
        for start in range(0, len(rows), MOST):
            portion = rows[start : start + MOST]
            if self._seals:
                portion = [placed(self._table, row) for row in portion]
            given = [
                {name: row[name] if process is None else process(row[name]) for name, process in processors}
                for row in portion
            ]
            parameters: dict[str, Any] = {self._rows: _ENCODER.encode(given)}
            if writer.dialect.name == "postgresql":
                parameters[self._count] = len(given)
            yield parameters

    def processors(self, dialect: Dialect) -> list[tuple[str, Callable[[Any], Any] | None]]:
        """Return what makes of each column's value what the database is to have."""
        types = [
            (column.name, SealedText() if column.name in self._dumped else column.type)
            for column in self._columns
        ]
        return [(name, type_.dialect_impl(dialect).bind_processor(dialect)) for name, type_ in types]


_processors = functools.lru_cache(maxsize=256)(Given.processors)  # by what is given, and by database


class Insert:
    """An ``INSERT`` of many rows into a table."""

    def __init__(
        self,
        table: sa.Table,
        columns: Iterable[str],
        *,
        dumped: Collection[str] = (),
        same: Mapping[str, Any] = _NONE,
    ) -> None:
        """Name the columns that rows have.

        Args:
            dumped: those to be sealed whose JSON data are texts already: of many rows that have the same.
            same: expressions by column, alike for all rows.
        """
        columns = list(columns)
        self._given = Given(table, columns, dumped=dumped)
        values = sa.select(*(self._given.c[name] for name in columns), *same.values())
        self._statement = Prepared(sa.insert(table).from_select([*columns, *same], values))

    def execute(self, writer: Writer, rows: Sequence[Row], also: Mapping[str, Any] = _NONE) -> None:
        """Insert the rows, in their order; ``also`` are other parameters of the statement."""
        for some in self._given.portions(writer, rows):
            writer.execute(self._statement, {**some, **also})


class Update:
    """An ``UPDATE`` of many rows of a table, each WHERE all of ``where`` are as given."""

    def __init__(
        self,
        table: sa.Table,
        where: Sequence[str],
        columns: Sequence[str],
        *,
        same: Mapping[str, Any] = _NONE,
    ) -> None:
        """Name the columns that find a row and those that are written; ``same`` as in ``Insert``."""
        self._given = Given(table, columns, where=where)
        self._statement = Prepared(
            sa.update(table)
            .where(*(table.c[name] == self._given.c[name] for name in where))
            .values({name: self._given.c[name] for name in columns} | dict(same))
        )

    def execute(self, writer: Writer, rows: Sequence[Row], also: Mapping[str, Any] = _NONE) -> None:
        """Update the rows; ``also`` are other parameters of the statement."""
        for some in self._given.portions(writer, rows):
            writer.execute(self._statement, {**some, **also})
