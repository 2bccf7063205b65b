# SPDX-License-Identifier: Apache-2.0
"""A member of the project ``WEB`` read, and took names from, the project ``web``.

MariaDB took the two for one, and ``wéb``, and ``web`` with a space behind it: by the collation
that its tables had unless told otherwise.  Texts compare as bytes, in every column of every
table, and on every database.
"""

from __future__ import annotations

import unicodedata
from contextlib import closing
from datetime import datetime
from urllib.parse import quote

import pytest
import requests
import sqlalchemy as sa

from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import Json, Sealed, SealedText
from heatconv.db.tables import metadata
from heatconv.testing.keys import KEYRING
from tests.functional.servers.catalog import DATABASE_SERVERS
from tests.functional.servers.databases import PostgreSQL

#: In the order of their bytes.
ALIKE = ["WEB", "web", "web ", unicodedata.normalize("NFD", "wéb"), "wéb"]
OTHERS = [each for each in ALIKE if each != "web"]

#: What is compared by no statement: encrypted values, none of which is another's equal, and JSON.
COMPARED = [
    column
    for table in metadata.sorted_tables
    for column in table.c
    if isinstance(column.type, sa.String) and not isinstance(column.type, SealedText | Json)
]


class Foreign(PostgreSQL):
    """Databases that sort as people in Germany do."""

    settings = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de'"


@pytest.fixture
def foreign_url(servers, database_kind, database_url):
    """Return the URL of a database that has a language, where databases have one, and no table."""
    if database_kind != "postgresql":
        kind, url = None, database_url
    else:
        kind = Foreign(servers.url(DATABASE_SERVERS["postgresql"]))
        url = kind.create()
    yield url
    if kind is not None:
        kind.drop(url)


@pytest.fixture
def database(foreign_url):
    with closing(Database.from_url(foreign_url, KEYRING)) as database:
        migration.upgrade(database)
        yield database


def add(connection, column, values):
    """Insert a row for each value; whatever else has to be there is made up, and the same in none."""
    for number, value in enumerate(values, start=1):
        needed = [each for each in column.table.c if not each.nullable and each.server_default is None]
        made_up = {each.name: _sample(each, number) for each in needed}
        connection.execute(sa.insert(column.table).values({**made_up, column.name: value}))


def _sample(column, number):
    if isinstance(column.type, SealedText):
        return {} if isinstance(column.type, Sealed) else ""  # which says nothing, and need not be sealed
    if isinstance(column.type, Json | sa.Boolean):
        return False
    if isinstance(column.type, sa.DateTime):
        return datetime(2026, 1, 1)  # noqa: DTZ001 - the tables' times are UTC and say no zone
    return number if isinstance(column.type, sa.Integer) else str(number)


def test_of_texts_that_look_alike_each_column_of_each_table_finds_the_one(database):
    blurred = []
    for column in COMPARED:
        with database.engine.connect() as connection:  # which takes it all back
            try:
                add(connection, column, reversed(ALIKE))
            except sa.exc.DBAPIError as error:
                blurred.append(f"{column}: {error.orig}")
                continue
            found = connection.scalars(sa.select(column).where(column == "web")).all()
            listed = connection.scalars(sa.select(column).order_by(column)).all()
        if (found, listed) != (["web"], ALIKE):
            blurred.append(f"{column}: {found} of {listed}")

    assert not blurred, "\n".join(blurred)
    assert len(COMPARED) > 100  # so that there was something to be seen


def test_two_columns_are_compared_as_one_is(database):
    stack, tag = metadata.tables["stack"], metadata.tables["stack_tag"]
    with database.engine.connect() as connection:
        add(connection, stack.c.name, ALIKE)
        add(connection, tag.c.tag, ["web"])
        found = connection.scalars(sa.select(stack.c.name).join(tag, tag.c.tag == stack.c.name)).all()

    assert found == ["web"]


HELLO = {"heat_template_version": "2018-08-31", "description": "ours"}


def test_a_project_is_not_another_whose_name_looks_alike(run_daemons, fresh_database, rabbit_url):
    daemons = run_daemons(
        database_url=fresh_database("mariadb"), transport_url=rabbit_url, engines=1, workers=1
    )

    def call(project, method, path, body=None):
        url = f"{daemons.endpoint.removesuffix('default')}{quote(project)}/{path}"
        return requests.request(method, url, json=body, timeout=60)

    def create(project, name):
        answer = call(project, "POST", "stacks", {"stack_name": name, "template": HELLO, "tags": "Mine"})
        assert answer.status_code == 201, answer.text

    def listed(project, query=""):
        return [stack["stack_name"] for stack in call(project, "GET", f"stacks{query}").json()["stacks"]]

    create("web", "shop")
    create("web", "SHOP")
    made = call("web", "POST", "software_configs", {"name": "c", "config": "secret"}).json()[
        "software_config"
    ]

    assert listed("web", "?name=shop") == ["shop"]
    assert listed("web", "?tags=mine") == []
    assert listed("web", "?sort_keys=stack_name&sort_dir=asc") == ["SHOP", "shop"]
    for other in OTHERS:
        assert listed(other) == []
        assert call(other, "GET", "stacks/shop").status_code == 404
        assert call(other, "GET", f"software_configs/{made['id']}").status_code == 404
        create(other, "shop")  # the name is free there
        assert listed(other) == ["shop"]
    assert sorted(listed("web")) == ["SHOP", "shop"]


def make_old(database):
    """Let texts compare as those of a schema of the version before did."""
    with database.engine.begin() as connection:
        for table in sa.inspect(connection).get_table_names():
            if database.engine.dialect.name == "mysql":
                connection.exec_driver_sql(
                    f"ALTER TABLE `{table}` CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
                )


@pytest.fixture
def old(empty_database_url, foreign_url, database_kind):
    url = foreign_url if database_kind == "postgresql" else empty_database_url
    with closing(Database.from_url(url, KEYRING)) as database:
        migration.upgrade(database, "0007")
        make_old(database)
        yield database


@pytest.mark.parametrize("done", [(), ("stack", "raw_template")])
def test_a_database_of_the_version_before_is_brought_there_even_if_that_was_broken_off(old, done):
    name = metadata.tables["stack"].c.name
    with old.engine.begin() as connection:
        add(connection, name, ["shop", "Straße"])
        connection.execute(sa.update(name.table).values(live_name=name, project_id="web"))
        for table in done if old.engine.dialect.name == "mysql" else ():
            connection.exec_driver_sql(
                f"ALTER TABLE `{table}` CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
            )

    migration.upgrade(old)

    with old.engine.begin() as connection:
        assert connection.scalars(sa.select(name).order_by(name)).all() == ["Straße", "shop"]
        connection.execute(sa.update(name.table).where(name == "Straße").values(live_name="SHOP"))
    assert compared_otherwise(old) == []


ODD = {
    "postgresql": """
        SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type IN ('character varying', 'text')
        AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'alembic_version'
    """,
    "mysql": """
        SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = DATABASE() AND collation_name <> 'utf8mb4_nopad_bin'
        AND table_name <> 'alembic_version'
    """,
}


def compared_otherwise(database):
    query = ODD.get(database.engine.dialect.name)
    with database.engine.connect() as connection:
        return [] if query is None else connection.execute(sa.text(query)).all()
