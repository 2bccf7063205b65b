# SPDX-License-Identifier: Apache-2.0
"""The migrations make the very schema that ``heatconv.db.tables`` describes, on every database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from heatconv import errors
from heatconv.db.convergence import services
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
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


def test_each_revision_after_the_base_says_whether_it_contracts():
    scripts = ScriptDirectory.from_config(migration.config())
    after = REVISIONS[REVISIONS.index(migration.BASE) + 1 :]

    assert {type(scripts.get_revision(each).module.contracts) for each in after} == {bool}


@pytest.mark.parametrize(
    "revision", [each for each in REVISIONS if each > migration.BASE and not migration.is_contracting(each)]
)
def test_what_expands_only_adds_what_daemons_of_the_release_before_can_do_without(empty, revision):
    migration.upgrade(empty, REVISIONS[REVISIONS.index(revision) - 1])
    before, written = schema(empty), []
    sa.event.listen(
        empty.engine, "before_cursor_execute", lambda *given: written.append(given[2]), named=False
    )

    migration.upgrade(empty, revision)

    assert [each for each in written if changes_rows(each)] == []
    after = schema(empty)
    for table, was in before.items():
        now = after[table]
        added = [column for column in now["columns"] if column not in was["columns"]]
        assert [column for column in was["columns"] if column not in now["columns"]] == []
        assert [column for column in added if not column[2] and column[3] is None] == [], "it is not nullable"
        for aspect in ("get_pk_constraint", "get_unique_constraints", "get_foreign_keys"):
            assert now[aspect] == was[aspect]
        more = set(now["get_indexes"]) - set(was["get_indexes"])
        assert set(was["get_indexes"]) <= set(now["get_indexes"])
        assert [index for index in more if "'unique': True" in index or "'unique': 1" in index] == []


def changes_rows(statement):
    """Tell whether a statement writes rows that daemons may be writing."""
    return (
        statement.lstrip().startswith(("UPDATE ", "DELETE ", "INSERT "))
        and "alembic_version" not in statement
    )


def test_upgrading_again_changes_nothing(empty):
    migration.upgrade(empty)
    services.heartbeat(empty, engine_id="me", host="here", binary="test", topic="none", interval=60)
    before = schema(empty), services.list_services(empty, dead_after=60)

    migration.upgrade(empty)

    assert (schema(empty), services.list_services(empty, dead_after=60)) == before
    assert migration.version(empty) == REVISIONS[-1]


def test_a_database_is_refused_until_it_is_at_the_newest_schema(empty):
    for found, following in zip(["none", *REVISIONS], REVISIONS, strict=False):
        with pytest.raises(errors.Misconfigured, match=f"at schema {found}, and {REVISIONS[-1]} is needed"):
            migration.check(empty)
        migration.upgrade(empty, following)

    migration.check(empty)


def test_a_database_that_a_later_release_has_been_at_is_let_be(empty):
    migration.upgrade(empty)
    with empty.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = 'later'"))

    migration.check(empty)


def test_what_was_there_is_measured_and_placed(empty):
    migration.upgrade(empty, "0003")
    tables = sa.MetaData()
    with empty.engine.begin() as connection:
        tables.reflect(connection, only=["stack", "resource"])
        for stack_id, owner in (("root", None), ("middle", "a"), ("inner", "b")):
            insert(connection, tables.tables["stack"], id=stack_id, name=stack_id, owner_resource_id=owner)
        for row, stack_id, sha1 in (("a", "root", "1"), ("old", "root", None), ("b", "middle", "1")):
            insert(
                connection, tables.tables["resource"], id=row, name=row, stack_id=stack_id, desired_sha1=sha1
            )

    migration.upgrade(empty, "0004")

    with empty.engine.connect() as connection:
        query = "SELECT id, root_stack_id, nested_depth, size FROM stack ORDER BY nested_depth"
        assert [tuple(row) for row in connection.execute(sa.text(query))] == [
            ("root", "root", 0, 1),
            ("middle", "root", 1, 1),
            ("inner", "root", 2, 0),
        ]


def test_no_request_says_any_more_whose_servers_a_deployment_is_shown_to(empty):
    migration.upgrade(empty, "0006")
    tables = sa.MetaData()
    with empty.engine.begin() as connection:
        tables.reflect(connection, only=["software_deployment"])
        deployments = tables.tables["software_deployment"]
        for deployment, shown_to in (("planted", "victims"), ("other", None)):
            insert(connection, deployments, id=deployment, stack_user_project_id=shown_to)

    migration.upgrade(empty, "0007")

    with empty.engine.connect() as connection:
        query = sa.select(deployments.c.id, deployments.c.stack_user_project_id).order_by("id")
        assert [tuple(row) for row in connection.execute(query)] == [("other", None), ("planted", None)]


def insert(connection, table, **values):
    """Insert a row that has anything at all in the columns that need something."""
    needed = [column for column in table.columns if not column.nullable and column.server_default is None]
    made_up = {column.name: sample(column.type) for column in needed}
    connection.execute(sa.insert(table).values({**made_up, **values}))


def sample(type_):
    if isinstance(type_, sa.DateTime):
        return datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    return 0 if isinstance(type_, sa.Integer | sa.Boolean) else "{}"
