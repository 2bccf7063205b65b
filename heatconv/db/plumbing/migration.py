# SPDX-License-Identifier: Apache-2.0
"""Bringing a database to a newer schema, by alembic, while daemons run.

Revisions are one line.  After ``BASE`` each says whether it ``contracts``: an *expanding* one only adds
what daemons that do not know it can do without; a *contracting* one takes away what they may need.  What
was contracted is written down, and a daemon that does not know all of that does not come up.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.db.tables import contraction

BASE = "0018"  #: no release was made before it: up to here revisions may do anything

_SCRIPTS = Path(__file__).parents[1] / "migrations"


def config() -> Config:
    """Return alembic's configuration; it is all in here, there is no file."""
    alembic = Config()
    alembic.set_main_option("script_location", str(_SCRIPTS))
    alembic.set_main_option("path_separator", "os")
    return alembic


def upgrade(database: Database, revision: str | None = None) -> None:
    """Bring a database that no daemon uses, be it empty, to a revision, or to the newest one."""
    wanted = revision or newest()
    for each in pending(database):
        if each < BASE <= wanted:  # all of those at once, on the way to the base
            continue
        _step(database, each)
        if each == wanted:
            break


def expand(database: Database) -> None:
    """Bring a database as far as daemons that do not know its new revisions can run with it.

    One that is empty has no such daemons, and goes all the way.
    """
    if version(database) is None:
        upgrade(database)
    ahead = itertools.takewhile(lambda each: not is_contracting(each), pending(database))
    for each in ahead:
        _step(database, each)


def _step(database: Database, revision: str) -> None:
    """Bring a database to the revision that follows, in one transaction.

    Each has its own: none holds a lock on a table that daemons use while it waits for one on another.
    """
    with database.engine.begin() as connection:
        alembic = config()
        alembic.attributes["connection"] = connection
        command.upgrade(alembic, revision)
        if is_contracting(revision):
            _note_contraction(connection, revision)


@writing
def announce(connection: Connection, revisions: Sequence[str]) -> None:
    """Let no daemon come up any more that does not know these contracting revisions."""
    for revision in revisions:
        _note_contraction(connection, revision)


@writing
def withdraw(connection: Connection, revisions: Sequence[str]) -> None:
    """Let them come up again: these revisions were not carried out."""
    connection.execute(sa.delete(contraction).where(contraction.c.revision.in_(revisions)))


def _note_contraction(connection: Connection, revision: str) -> None:
    known = sa.select(contraction.c.revision).where(contraction.c.revision == revision)
    if connection.scalar(known) is None:
        connection.execute(sa.insert(contraction).values(revision=revision))


@reading
def version(connection: Connection) -> str | None:
    """Return the revision a database is at; None if it has no tables of ours."""
    return MigrationContext.configure(connection).get_current_revision()


@functools.cache
def _revisions() -> dict[str, bool]:
    """Return every revision there is, in their order, and whether it contracts; up to the base none does."""
    scripts = [*ScriptDirectory.from_config(config()).walk_revisions()][::-1]
    return {script.revision: getattr(script.module, "contracts", False) for script in scripts}


def revisions() -> Sequence[str]:
    """Return every revision there is, the oldest first."""
    return [*_revisions()]


def newest() -> str:
    """Return the newest revision."""
    return revisions()[-1]


def needed() -> str:
    """Return the revision that daemons of this release need: the newest that does not contract."""
    return next(each for each in reversed(revisions()) if not is_contracting(each))


def is_known(revision: str | None) -> bool:
    """Tell whether a revision is none of a later release."""
    return revision in _revisions()


def is_contracting(revision: str) -> bool:
    """Tell whether daemons that do not know a revision may need what it takes away."""
    return _revisions()[revision]


def knows(schema_revision: str | None, revision: str) -> bool:
    """Tell whether a daemon that knows a revision, and those before it, knows another one."""
    if schema_revision is None:  # it is of before 0019, where daemons began to say so
        return revision <= BASE
    if not is_known(schema_revision):  # it is of a later release, which knows all of ours
        return True
    return revisions().index(schema_revision) >= revisions().index(revision)


def pending(database: Database) -> Sequence[str]:
    """Return the revisions that a database is yet to be brought to; none, where a later release has been."""
    found = version(database)
    if found is None:
        return revisions()
    return revisions()[revisions().index(found) + 1 :] if is_known(found) else ()


@reading
def contracted(connection: Connection) -> set[str]:
    """Return the contracting revisions that were carried out, or are about to be."""
    return set(connection.scalars(sa.select(contraction.c.revision)))


def check(database: Database) -> None:
    """Refuse a database that daemons of this release cannot work with.

    One that a later release has expanded is let be.

    Raises:
        Misconfigured: its tables are those of an earlier release, or there are none; or a later release
            has taken away from it what daemons of this one may need.
        StorageError: it is not there.
    """
    found = version(database)
    if found is None or (is_known(found) and not knows(found, needed())):
        raise errors.Misconfigured(
            reason=f"The database is at schema {found or 'none'}, and {needed()} is needed; "
            "run 'heatconv-manage db_sync'."
        )
    later = sorted(contracted(database) - _revisions().keys())
    if later:
        raise errors.Misconfigured(
            reason=f"The database is at schema {found}: a later release has taken away from it, by"
            f" {', '.join(later)}, what daemons of this one may need; run those of that release."
        )
