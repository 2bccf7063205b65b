# SPDX-License-Identifier: Apache-2.0
"""The migrations make the very schema that ``heatconv.db.tables`` describes, on every database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from heatconv.db import migration, services
from heatconv.db.session import Database
from heatconv.db.tables import metadata

REVISIONS = [script.revision for script in ScriptDirectory.from_config(migration.config()).walk_revisions()][
    ::-1
]

#: What a database can be asked about a table, beside its columns.
ASPECTS = ("get_pk_constraint", "get_indexes", "get_unique_constraints", "get_foreign_keys")


@contextmanager
def opened(url: str) -> Iterator[Database]:
    database = Database.from_url(url)
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def empty(empty_database_url):
    with opened(empty_database_url) as database:
        yield database


def schema(database):
    """Return all that the database says of its tables, in an order of our own."""
    inspector = sa.inspect(database.engine)
    return {
        table: {
            "columns": sorted(
                (
                    column["name"],
                    column["type"].compile(database.engine.dialect),
                    column["nullable"],
                    column["default"],
                )
                for column in inspector.get_columns(table)
            ),
            "options": inspector.get_table_options(table),
        }
        | {aspect: described(getattr(inspector, aspect)(table)) for aspect in ASPECTS}
        for table in inspector.get_table_names()
        if table != "alembic_version"
    }


def described(facts):
    return sorted(map(repr, facts)) if isinstance(facts, list) else facts


def test_there_is_one_line_of_revisions():
    scripts = ScriptDirectory.from_config(migration.config())

    assert scripts.get_heads() == [REVISIONS[-1]]
    assert [scripts.get_revision(revision).down_revision for revision in REVISIONS] == [None, *REVISIONS[:-1]]


def test_an_empty_database_is_at_no_revision(empty):
    assert migration.version(empty) is None


def test_each_revision_leads_to_the_next(empty):
    for revision in REVISIONS:
        migration.upgrade(empty, revision)
        assert migration.version(empty) == revision

    assert schema(empty).keys() == metadata.tables.keys()


def test_up_from_nothing_the_schema_is_the_one_that_the_models_describe(empty, databases, database_kind):
    migration.upgrade(empty)
    with opened(databases(database_kind).empty()) as by_models:
        metadata.create_all(by_models.engine)

        assert schema(empty) == schema(by_models)


def test_there_is_nothing_left_to_generate_a_migration_for(empty):
    migration.upgrade(empty)

    with empty.engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)

        assert compare_metadata(context, metadata) == []


def test_upgrading_again_changes_nothing(empty):
    migration.upgrade(empty)
    services.heartbeat(empty, engine_id="me", host="here", binary="test", topic="none", interval=60)
    before = schema(empty), services.list_services(empty, dead_after=60)

    migration.upgrade(empty)

    assert (schema(empty), services.list_services(empty, dead_after=60)) == before
    assert migration.version(empty) == REVISIONS[-1]
