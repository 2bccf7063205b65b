# SPDX-License-Identifier: Apache-2.0
"""Statements that are sent for each resource: put together once in a process, planned once on a connection.

What SQLAlchemy does for each execution of a statement takes longer than the statement, and to plan
one takes PostgreSQL longer than to carry it out.  A statement that never changes needs neither: SQLAlchemy
says once what is to be sent, and PostgreSQL keeps it, with its plan, for as long as the connection lasts.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, cycle
from typing import Any, NamedTuple, NoReturn

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection, Dialect, IteratorResult
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import UpdateBase

LOG = logging.getLogger(__name__)

OFTEN = 4  #: times that a connection has sent a statement when it has its server keep it
LONGEST = 8  #: values in all lists of a statement; for each number of them it is another text

Parameters = Mapping[str, Any]
Convert = Callable[[Any], Any]
_NONE: Parameters = {}

_ALONE, _LAST = "heatconv_alone", "heatconv_last"
# Options of an execution that save PostgreSQL round trips; elsewhere nothing comes of them.
#: The statement is a transaction of its own if it is the first: a read, or the only write.
ALONE: Mapping[str, Any] = {_ALONE: True}
#: The statement is the last of its transaction, which is committed with it; what came of it nobody is told.
LAST: Mapping[str, Any] = {_LAST: True}

_FORMS = "heatconv_forms"  #: the attribute of a dialect that has what statements are there
SENT = "heatconv.sent"  #: under which a connection's ``info`` has how often it was sent what
_KEEPS = "heatconv_keeps"  #: the attribute of a dialect that is False if its servers do not keep anything

#: What a server says that has not kept a statement, or has one of that name already: something in between
#: gives the connection of one client to another.
_SHARED = frozenset({"26000", "42P05"})
_OUTDATED = "0A000"  #: what it says if a table has changed since, so that the plan has other columns


class Prepared(sa.Executable):
    """A statement that never changes: whatever differs from one time to the next is a parameter.

    A connection executes it like any other, by a way of its own.

    Concurrency: any thread may; what two of them make at the same time is the same.
    """

    def __init__(self, statement: sa.Select[Any] | UpdateBase) -> None:
        """Keep the statement, which is put together when it is first executed."""
        self.statement = statement

    def _execute_on_connection(self, connection: Connection, many: Sequence[Parameters], options: Any) -> Any:
        """Answer ``connection.execute``, as whatever SQLAlchemy executes does."""
        parameters, *others = many or [_NONE]
        known = vars(connection.dialect).setdefault(_FORMS, {})
        forms = known.get(self)
        if forms is None:
            forms = known[self] = _Forms(self.statement, connection.dialect)
        form = None if others else forms.form(parameters)
        if form is None:
            return connection.execute(self.statement, many, execution_options=options)
        return form.execute(connection, parameters, options or _NONE)

    def _execute_on_scalar(self, connection: Connection, many: Sequence[Parameters], options: Any) -> Any:
        """Answer ``connection.scalar``."""
        return self._execute_on_connection(connection, many, options).scalar()


class Met(NamedTuple):
    """What came of a write."""

    rowcount: int  #: of the rows that it has met


class _Forms:
    """A statement of one dialect, by how long its lists are."""

    def __init__(self, statement: sa.Select[Any] | UpdateBase, dialect: Dialect) -> None:
        self._statement = statement
        self._dialect = dialect
        self._compiled = statement.compile(dialect=dialect)
        if self._compiled.literal_execute_params or self._compiled.prefetch:
            raise ValueError(f"a statement that is not always the same: {self._compiled}")
        self._lists = [bound.key for bound in self._compiled.post_compile_params if bound.required]
        self._forms: dict[tuple[int, ...], _Form] = {}

    def form(self, parameters: Parameters) -> _Form | None:
        """Return the form for lists as long as these; None if it is better put together for this time."""
        lengths = tuple([len(parameters[name]) for name in self._lists])
        form = self._forms.get(lengths)
        if form is None and (not lengths or 0 < min(lengths) <= sum(lengths) <= LONGEST):
            form = self._forms[lengths] = _Form(self._statement, self._compiled, self._dialect, parameters)
        return form


class _List(NamedTuple):
    """A parameter of a statement that is a list."""

    name: str
    parts: Sequence[str]  #: under which its values are sent
    process: Sequence[Convert | None]  #: what makes of each value what is sent

    def values(self, given: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """Yield what is sent, by name."""
        flat = chain.from_iterable(given) if len(self.process) > 1 else given
        for part, each, convert in zip(self.parts, flat, cycle(self.process), strict=False):
            yield part, convert(each) if convert else each


class _Form:
    """A statement of one dialect, for lists of some lengths."""

    def __init__(
        self,
        statement: sa.Select[Any] | UpdateBase,
        compiled: SQLCompiler,
        dialect: Dialect,
        example: Parameters,
    ) -> None:
        expanded = compiled.construct_expanded_state(dict(example))
        self._sql = expanded.statement
        self._order = expanded.positiontup
        self._same: dict[str, Any] = {}  #: what is sent each time
        self._values: list[tuple[str, Convert | None]] = []  #: the parameters that are none of the lists
        self._lists: list[_List] = []
        types: dict[str, sa.types.TypeEngine[Any]] = {}
        for bound, name in compiled.bind_names.items():
            parts = expanded.parameter_expansion.get(name, ())
            each_type = bound.type.types if isinstance(bound.type, sa.types.TupleType) else [bound.type]
            types |= zip(parts or [name], cycle(each_type))
            process = [type_.dialect_impl(dialect).bind_processor(dialect) for type_ in each_type]
            if parts:
                each = _List(name, parts, process)
                if bound.required:
                    self._lists.append(each)
                else:
                    self._same |= each.values(bound.effective_value or ())
            elif bound.required:
                self._values.append((name, process[0]))
            else:
                self._same[name] = _sent(process[0], bound.effective_value)
        if unknown := example.keys() - dict(self._values).keys() - {each.name for each in self._lists}:
            raise ValueError(f"a statement without parameters of these names: {sorted(unknown)}")
        self._found = _metadata(statement, dialect) if isinstance(statement, sa.Select) else None
        self._kept = _Kept(self._sql, types, dialect) if dialect.driver == "psycopg2" else None

    def execute(
        self, connection: Connection, parameters: Parameters, options: Mapping[str, Any]
    ) -> IteratorResult[Any] | Met:
        """Send the statement, and return what came of it."""
        if not connection.in_transaction():
            connection.begin()
        values = self._same.copy()
        for name, convert in self._values:
            values[name] = _sent(convert, parameters[name])
        for each in self._lists:
            values.update(each.values(parameters[each.name]))
        given: Any = values if self._order is None else tuple([values[name] for name in self._order])
        dispatch = connection.dispatch
        cursor: Any = connection.connection.cursor()
        heard = (connection, cursor, self._sql, given, None, False)  # what SQLAlchemy has listeners hear
        is_last = False
        try:
            for listener in dispatch.before_cursor_execute:
                listener(*heard)
            if self._kept is not None:
                cursor.alone, cursor.last = _ALONE in options, _LAST in options
                is_last = cursor.last
            if kept := self._kept_by_the_server(connection):
                cursor.execute(kept.execute, tuple([values[name] for name in kept.order]))
            else:
                cursor.execute(self._sql, given)
            for listener in dispatch.after_cursor_execute:
                listener(*heard)
            found = cursor.fetchall() if self._found and not is_last else None
            met = cursor.rowcount
            cursor.close()
        except BaseException as error:  # noqa: BLE001 - SQLAlchemy tells what is the database's, and raises all
            self._fail(connection, cursor, given, error)
        return Met(met) if self._found is None or found is None else IteratorResult(self._found, iter(found))

    def _kept_by_the_server(self, connection: Connection) -> _Kept | None:
        """Return what the server keeps of the statement from now on, None if it is sent as a whole."""
        kept = self._kept
        if kept is None or not getattr(connection.dialect, _KEEPS, True):
            return None
        sent = connection.info.setdefault(SENT, Counter())
        if sent[kept.name] < OFTEN:
            sent[kept.name] += 1
            return None
        if sent[kept.name] == OFTEN:
            cursor: Any = connection.connection.cursor()
            cursor.alone = True  # it lasts for longer than a transaction
            cursor.execute(kept.prepare)
            cursor.close()
            sent[kept.name] += 1
        return kept

    def _fail(self, connection: Connection, cursor: Any, given: Any, error: BaseException) -> NoReturn:
        """Raise what SQLAlchemy makes of an error; if it was that the server keeps nothing, for another try.

        Raises:
            RetryRequest: another try does without, or on another connection.
        """
        code = getattr(error, "pgcode", None)
        if self._kept is None or code not in {*_SHARED, _OUTDATED}:
            connection._handle_dbapi_exception(error, self._sql, given, cursor, None)  # noqa: SLF001 - it has no other name
        if code in _SHARED and getattr(connection.dialect, _KEEPS, True):
            LOG.warning(
                "Connections to the database are shared with other clients, as by a pooler: no statement is"
                " prepared from now on, and each takes the server longer."
            )
            setattr(connection.dialect, _KEEPS, False)
        connection.invalidate()
        raise oslo_db_exception.RetryRequest(oslo_db_exception.DBError(error)) from error


def _sent(convert: Convert | None, value: Any) -> Any:
    """Return what is sent for a value."""
    return convert(value) if convert else value


def _metadata(statement: sa.Select[Any], dialect: Dialect) -> SimpleResultMetaData:
    """Return what makes rows of what a query finds."""
    columns = statement.selected_columns
    read = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
    return SimpleResultMetaData(columns.keys(), _processors=read)


class _Kept:
    """A statement that PostgreSQL keeps for a connection.

    Its name is made of what it says: whoever else has a statement of that name, means the same by it.
    Its text is psycopg2's, which spells a parameter and a percent sign as Python does.
    """

    def __init__(self, sql: str, types: Mapping[str, sa.types.TypeEngine[Any]], dialect: Dialect) -> None:
        text = f"AS {sql % {name: f'${number}' for number, name in enumerate(types, start=1)}}"
        if types:
            declared = ", ".join([_declared(type_, dialect) for type_ in types.values()])
            text = f"({declared}) {text}"
        self.name = f"heatconv_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
        self.prepare = f"PREPARE {self.name} {text}"
        given = ", ".join(["%s"] * len(types))
        self.execute = f"EXECUTE {self.name}({given})" if types else f"EXECUTE {self.name}"
        self.order = list(types)  #: of the values: by their names psycopg2 takes twice as long


def _declared(type_: sa.types.TypeEngine[Any], dialect: Dialect) -> str:
    """Return what PostgreSQL calls a type; of what SQLAlchemy does not know it finds out itself."""
    if isinstance(type_, sa.types.NullType):
        return "unknown"
    type_ = type_.dialect_impl(dialect)
    if isinstance(type_, sa.types.TypeDecorator):
        type_ = type_.impl_instance
    return "text" if isinstance(type_, sa.String) else dialect.type_compiler_instance.process(type_)
