# SPDX-License-Identifier: Apache-2.0
"""heatconv-status upgrade check, before daemons of another release are started."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv.crypto import Keyring, generate_key
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import raw_template
from heatconv.testing.keys import KEY
from tests.functional.servers import nursery

ID = "00000000-0000-4000-8000-000000000001"
WELL = {"Schema": (0, None), "Keys": (0, None), "Connections": (0, None), "Plugins": (0, None)}


@pytest.fixture
def status(fresh_database, database_kind, tmp_path):
    """Return a function that checks, with some options, a database that was just made, and the database."""
    url = fresh_database(database_kind)

    def check(**options):
        file = tmp_path / "heatconv.conf"
        lines = [f"{name} = {value}\n" for name, value in {"auth_encryption_key": KEY, **options}.items()]
        file.write_text(f"[DEFAULT]\n{''.join(lines)}[database]\nconnection = {url}\n")
        done = nursery.finish(["heatconv-status", "--config-file", file, "upgrade", "check", "--json"])
        found = {
            each["check"]: (each["result"], each["details"]) for each in json.loads(done.stdout)["checks"]
        }
        assert done.returncode == max(code for code, _ in found.values())
        return found

    with closing(Database.from_url(url, Keyring(KEY))) as database:
        yield check, database


def test_it_says_that_all_is_well_or_what_is_to_be_done_first(status):
    check, database = status
    assert check() == WELL

    be_at(database, "0001")
    code, said = check()["Schema"]
    assert (code, "run 'heatconv-manage db_sync'" in said) == (2, True)


def test_keys_that_are_not_those_of_the_database_are_found(status):
    check, database = status
    with database.engine.begin() as connection:
        columns = ("template", "environment", "files", "outputs", "parameters")
        values = {"id": 1, "stack_id": ID, "uuid": ID, **{name: {"it": "says something"} for name in columns}}
        connection.execute(sa.insert(raw_template).values(placed(raw_template, values)))

    assert check() == WELL
    code, said = check(auth_encryption_key=generate_key())["Keys"]
    assert code == 2
    assert "key" in said


def test_a_later_release_is_to_be_thought_of_and_a_plugin_that_does_not_load_fails(status, tmp_path):
    check, database = status
    be_at(database, "9999")
    (tmp_path / "it.py").write_text("import nothing_of_that_name")

    found = check(plugin_dirs=tmp_path)

    assert (found["Schema"][0], "9999" in found["Schema"][1]) == (1, True)
    assert (found["Plugins"][0], "it.py" in found["Plugins"][1]) == (2, True)


def be_at(database, revision):
    """Say that a database is at a revision."""
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
