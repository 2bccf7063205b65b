# SPDX-License-Identifier: Apache-2.0
"""Bringing a database to the newest schema, by alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from heatconv.db.session import Database

_SCRIPTS = Path(__file__).parent / "migrations"


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


def version(database: Database) -> str | None:
    """Return the revision a database is at; None if it has no tables of ours."""
    with database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
