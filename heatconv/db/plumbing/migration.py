# SPDX-License-Identifier: Apache-2.0
"""Bringing a database to the newest schema, by alembic."""

from __future__ import annotations

import functools
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.plumbing.session import Database, reading

_SCRIPTS = Path(__file__).parents[1] / "migrations"


def config() -> Config:
    """Return alembic's configuration; it is all in here, there is no file."""
    alembic = Config()
    alembic.set_main_option("script_location", str(_SCRIPTS))
    return alembic


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring a database, be it empty, to a revision."""
    with database.engine.begin() as connection:
        alembic = config()
        alembic.attributes["connection"] = connection
        command.upgrade(alembic, revision)


@reading
def version(connection: Connection) -> str | None:
    """Return the revision a database is at; None if it has no tables of ours."""
    return MigrationContext.configure(connection).get_current_revision()


@functools.cache
def _revisions() -> tuple[str, ...]:
    """Return every revision there is, the newest first."""
    return tuple(script.revision for script in ScriptDirectory.from_config(config()).walk_revisions())


def is_known(revision: str | None) -> bool:
    """Tell whether a revision is none of a later release."""
    return revision in _revisions()


def check(database: Database) -> None:
    """Refuse a database that has to be brought to a newer schema first.

    One that a later release has been at is let be: only that one knows whom it suits.

    Raises:
        Misconfigured: its tables are those of an earlier release, or there are none.
        StorageError: it is not there.
    """
    newest, *older = _revisions()
    found = version(database)
    if found is None or found in older:
        raise errors.Misconfigured(
            reason=f"The database is at schema {found or 'none'}, and {newest} is needed; "
            "run 'heatconv-manage db_sync'."
        )
