# SPDX-License-Identifier: Apache-2.0
"""Whether the keys fit what the database holds, and how all of it gets under the newest one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from heatconv import errors
from heatconv.crypto import Keyring
from heatconv.db.plumbing.places import Opened, place_of, row_of, sealed_columns
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.db.plumbing.types import SAYING_NOTHING, LongText, opened
from heatconv.db.tables import metadata, raw_template

BATCH = 100  #: rows that are read, and written, at a time

Key = tuple[Any, ...]  #: the values of a row's primary key


@reading
def check(connection: Connection) -> None:
    """Decrypt what was written first and what was written last.

    Raises:
        WrongKey: one of the two cannot be.
        BrokenSeal: an earlier release has written one of the two, and that is not accepted.
    """
    for order in (raw_template.c.id.asc(), raw_template.c.id.desc()):
        for row in connection.execute(sa.select(raw_template).order_by(order).limit(1)):
            try:
                Opened(raw_template, row).template  # noqa: B018 - asking is what opens it
            except errors.BrokenSeal as broken:
                if isinstance(broken.__cause__, errors.WrongKey):
                    raise errors.WrongKey from broken
                raise


@dataclass
class Progress:
    """How far a table is: rows read and rows encrypted anew, and values that cannot be."""

    table: str
    rows: int = 0
    renewed: int = 0
    undecipherable: int = 0  #: no key decrypts them where they stand
    unbound: int = 0  #: they are not bound to their row, and that is not accepted

    def __str__(self) -> str:
        return f"{self.table}: {self.rows} rows, {self.renewed} of them encrypted anew"


def sealed_tables() -> list[sa.Table]:
    """Return the tables that have something encrypted in them."""
    return [table for table in metadata.sorted_tables if sealed_columns(table)]


def renew(database: Database, table: sa.Table) -> Iterator[Progress]:
    """Encrypt all of a table with the first key; yield the progress after each batch of rows.

    Daemons may run meanwhile, and it may be broken off: what is encrypted with
    the first key already is left alone.

    Concurrency: each row is written WHERE its values are as read, each batch in
    a transaction of its own; a row that changed in between is read again.

    Raises:
        NoKey: the database was given none.
    """
    raw, keyring, progress = _Raw(table), database.keyring, Progress(table.name)
    if table is raw_template:
        _name_templates(database)
    rows = _read(database, raw)
    while rows:
        progress.rows += len(rows)
        last = raw.key_of(rows[-1])
        while rows:
            changes = [_change(raw, row, keyring, progress) for row in rows]
            missed = _write(database, raw, [change for change in changes if change.new])
            progress.renewed += sum(bool(change.new) for change in changes) - len(missed)
            rows = [row for key in missed for row in _read(database, raw, at=key)]
        yield progress
        rows = _read(database, raw, after=last)
    yield progress


@writing
def _name_templates(connection: Connection) -> None:
    """Give a uuid to templates that a daemon of an earlier release has stored, WHERE they have none."""
    named = sa.cast(raw_template.c.id, sa.String(36))
    connection.execute(sa.update(raw_template).where(raw_template.c.uuid.is_(None)).values(uuid=named))


class _Raw:
    """A table as it is on disk: its key, and its sealed columns as the texts that they are."""

    def __init__(self, table: sa.Table) -> None:
        self.table = table
        self.key = list(table.primary_key)
        self.texts = {name: sa.type_coerce(table.c[name], LongText) for name in sealed_columns(table)}
        labelled = [text.label(name) for name, text in self.texts.items()]
        bound = [table.c[name] for name in row_of(table) if not table.c[name].primary_key]
        self.query = sa.select(*self.key, *bound, *labelled).order_by(*self.key)

    def key_of(self, row: Row[Any]) -> Key:
        return tuple(row[: len(self.key)])

    def is_at(self, key: Key) -> sa.ColumnElement[bool]:
        return sa.and_(*(column == value for column, value in zip(self.key, key, strict=True)))

    def is_after(self, key: Key) -> sa.ColumnElement[bool]:
        values = [sa.literal(value, column.type) for column, value in zip(self.key, key, strict=True)]
        # The first part is what every database looks up in its index.
        return sa.and_(self.key[0] >= values[0], sa.tuple_(*self.key) > sa.tuple_(*values))


@dataclass(frozen=True)
class _Change:
    """The values of one row that are to be others, as they are and as they will be."""

    key: Key
    old: Mapping[str, str]
    new: Mapping[str, str]


def _change(raw: _Raw, row: Row[Any], keyring: Keyring, progress: Progress) -> _Change:
    old, new = {}, {}
    for name in raw.texts:
        text, place = getattr(row, name), place_of(raw.table, name, row)
        if text is None or text in SAYING_NOTHING or keyring.is_current(text, place.bound):
            continue
        try:
            renewed = keyring.encrypt(opened(text, place, keyring), place.bound)
        except errors.BrokenSeal as broken:
            if isinstance(broken.__cause__, errors.Unbound):
                progress.unbound += 1
            else:
                progress.undecipherable += 1
            continue
        old[name], new[name] = text, renewed
    return _Change(raw.key_of(row), old, new)


@reading
def _read(
    connection: Connection, raw: _Raw, *, at: Key | None = None, after: Key | None = None
) -> Sequence[Row[Any]]:
    query = raw.query if at is None else raw.query.where(raw.is_at(at))
    if after is not None:
        query = query.where(raw.is_after(after))
    return connection.execute(query.limit(BATCH)).all()


@writing
def _write(connection: Connection, raw: _Raw, changes: Sequence[_Change]) -> list[Key]:
    """Write what has not changed since it was read; return the keys of the others."""
    missed = []
    for change in changes:
        unchanged = [raw.texts[name] == text for name, text in change.old.items()]
        values = {name: sa.literal(text, LongText) for name, text in change.new.items()}
        written = connection.execute(
            sa.update(raw.table).where(raw.is_at(change.key), *unchanged).values(values)
        )
        if written.rowcount != 1:
            missed.append(change.key)
    return missed
