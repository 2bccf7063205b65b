# SPDX-License-Identifier: Apache-2.0
"""Everything in the database gets under a new key, while others read and write it."""

from __future__ import annotations

import subprocess
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa

from heatconv.crypto import Keyring, generate_key
from heatconv.db.plumbing import sealing
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import metadata, raw_template, resource, sync_point_input
from tests.functional.servers import nursery
from tests.functional.servers.processes import program

OLD, NEW = generate_key(), "the key that comes after that one, and is a password"
BEFORE, BOTH, AFTER = Keyring(OLD), Keyring(NEW, [OLD]), Keyring(NEW)
SECRET = {"password": "correct horse battery staple"}


@pytest.fixture
def opened(database_url):
    """Return the database as an owner of some keys sees it."""
    made = []

    def _open(keyring):
        made.append(Database.from_url(database_url, keyring))
        return made[-1]

    yield _open
    for database in made:
        database.close()


def write(database, statement, values=None):
    with database.engine.begin() as connection:
        connection.execute(statement, values or [{}])


def read(database, statement):
    with database.engine.begin() as connection:
        return connection.execute(statement).all()


def fill(database, templates=3, inputs=5):
    parts: dict[str, Any] = {name: {} for name in ("environment", "files", "outputs", "parameters")}
    parts["stack_id"] = "s"
    write(
        database,
        sa.insert(raw_template),
        [
            placed(raw_template, {**parts, "uuid": f"u{n}", "template": SECRET | {"n": n}})
            for n in range(templates)
        ],
    )
    key = {"traversal_id": "t", "stack_id": "s", "sender_id": "x", "data": SECRET}
    write(
        database,
        sa.insert(sync_point_input),
        [
            placed(
                sync_point_input,
                {**key, "resource_id": str(n), "is_update": update, "sender_is_update": update},
            )
            for n in range(inputs)
            for update in (True, False)
        ],
    )


def open_all(database, table, name):
    rows = [Opened(table, row) for row in read(database, sa.select(table).order_by(*table.primary_key))]
    return [getattr(row, name) for row in rows]


def renewed(database):
    """Renew everything; return how many rows of each table were."""
    counts = {}
    for table in sealing.sealed_tables():
        *_, last = sealing.renew(database, table)
        counts[table.name] = last.renewed
    return {name: count for name, count in counts.items() if count}


def test_every_row_gets_under_the_first_key(opened, monkeypatch):
    monkeypatch.setattr(sealing, "BATCH", 3)  # so that it takes several, with ties in the first column
    fill(opened(BEFORE), templates=7)

    assert renewed(opened(BOTH)) == {"raw_template": 7, "sync_point_input": 10}

    found = open_all(opened(AFTER), raw_template, "template")
    assert found == [SECRET | {"n": n} for n in range(7)]
    assert open_all(opened(AFTER), sync_point_input, "data") == [SECRET] * 10
    assert set(
        read(opened(AFTER), sa.select(sync_point_input.c.resource_id, sync_point_input.c.is_update))
    ) == {(str(n), update) for n in range(5) for update in (True, False)}


def test_what_is_there_already_is_left_alone(opened):
    fill(opened(BEFORE))
    renewed(opened(BOTH))
    stored = read(opened(BOTH), sa.text("SELECT template FROM raw_template"))

    assert renewed(opened(BOTH)) == {}
    assert read(opened(BOTH), sa.text("SELECT template FROM raw_template")) == stored


def test_what_was_never_encrypted_is(opened):
    database = opened(Keyring(NEW, accept_unbound=True))
    fill(database)
    write(database, sa.text("""UPDATE raw_template SET template = '{"plain": 1}'"""))

    assert renewed(database) == {"raw_template": 3}
    assert open_all(opened(AFTER), raw_template, "template") == [{"plain": 1}] * 3
    assert "plain" not in str(read(database, sa.text("SELECT template FROM raw_template")))


def test_what_no_key_decrypts_is_counted_and_kept(opened):
    fill(opened(Keyring(generate_key())))
    stored = read(opened(BOTH), sa.text("SELECT template FROM raw_template"))

    *_, progress = sealing.renew(opened(BOTH), raw_template)

    assert (progress.rows, progress.renewed, progress.undecipherable) == (3, 0, 3)
    assert read(opened(BOTH), sa.text("SELECT template FROM raw_template")) == stored


def test_a_row_that_changes_meanwhile_keeps_the_change(opened):
    """A worker writes one column of a row after it was read, and its fence is not touched."""
    database, worker = opened(BOTH), opened(BOTH)
    _add_resource(opened(BEFORE))
    reads: list[Any] = []

    def _interfere(connection, _cursor, statement, *_):
        if statement.startswith("UPDATE resource") and not reads:
            reads.append(statement)
            if database.engine.dialect.name == "sqlite":
                connection.exec_driver_sql("UPDATE resource SET progress = NULL")  # nobody else can write now
            else:
                values = {"id": "x", "stack_id": "x", "progress": {"token": 1}, "atomic_key": 8}
                write(worker, sa.update(resource).values(placed(resource, values)))

    sa.event.listen(database.engine, "before_cursor_execute", _interfere)
    *_, progress = sealing.renew(database, resource)

    [found] = read(opened(AFTER), sa.select(resource))
    row = Opened(resource, found)
    assert progress.renewed == 1
    assert row.desired == SECRET
    assert row.progress != SECRET
    assert row.atomic_key in (7, 8)


def _add_resource(database):
    texts = dict.fromkeys(("id", "stack_id", "name", "type", "action", "status", "status_reason"), "x")
    sealed = dict.fromkeys(("desired", "progress", "attributes", "metadata", "data"), SECRET)
    numbers = {"version": 0, "output_version": 0, "atomic_key": 7}
    values = {**texts, **sealed, **numbers, "requires": {}, "wanted_attributes": []}
    write(database, sa.insert(resource).values(**placed(resource, values), created_at=sa.func.now()))


def test_every_sealed_column_is_known():
    names = {table.name for table in sealing.sealed_tables()}
    assert {"raw_template", "resource", "event", "sync_point_input", "resource_data", "snapshot"} <= names
    assert "stack" not in names
    assert names <= metadata.tables.keys()


def manage(path, *arguments):
    return nursery.finish(["heatconv-manage", "--config-file", path, *arguments])


def configured(path, url, **keys):
    lines = [f"{name} = {key}" for name, key in keys.items()]
    path.write_text("\n".join(["[DEFAULT]", *lines, "[database]", f"connection = {url}"]))
    return path


def test_an_operator_rotates_the_key(opened, database_url, tmp_path):
    fill(opened(BEFORE))
    old, both, new = (
        configured(tmp_path / name, database_url, **keys)
        for name, keys in (
            ("old", {"auth_encryption_key": OLD}),
            ("both", {"auth_encryption_key": NEW, "auth_encryption_old_keys": OLD}),
            ("new", {"auth_encryption_key": NEW}),
        )
    )
    early = manage(new, "update_params", "encrypt")
    assert early.returncode == 1
    assert "13 values are encrypted with keys that auth_encryption_old_keys lacks" in early.stderr

    done = manage(both, "update_params", "encrypt")
    assert (done.returncode, done.stderr) == (0, "")
    assert "raw_template: 3 rows, 3 of them encrypted anew" in done.stdout

    assert manage(new, "update_params", "encrypt").returncode == 0
    assert manage(old, "update_params", "encrypt").returncode == 1


def test_without_a_key_the_commands_that_need_none_work(database_url, tmp_path):
    path = configured(tmp_path / "none", database_url)

    assert manage(path, "db_sync").returncode == 0
    assert manage(path, "service", "list").returncode == 0
    refused = manage(path, "update_params", "encrypt")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("heatconv-manage: Set auth_encryption_key to 32 characters or more;")


def test_a_key_is_made_for_who_asks(tmp_path):
    path = configured(tmp_path / "none", "sqlite://")
    made = manage(path, "generate_key")

    assert Keyring(made.stdout.strip())
    assert made.stderr == ""


@pytest.mark.parametrize("daemon", ["engine", "worker", "api"])
def test_a_daemon_does_not_start_without_a_key(tmp_path, daemon, fresh_database):
    path = configured(tmp_path / "none", fresh_database("sqlite"))
    command = [program(f"heatconv-{daemon}"), "--config-file", path]

    ended = subprocess.run(command, check=False, capture_output=True, text=True)

    assert ended.returncode == 1
    assert ended.stderr == (
        f"heatconv-{daemon}: Set auth_encryption_key to 32 characters or more; "
        "'heatconv-manage generate_key' makes them.\n"
    )


@pytest.mark.parametrize("daemon", ["engine", "worker"])
def test_a_daemon_does_not_start_with_the_wrong_key(tmp_path, daemon, fresh_database):
    url = fresh_database("sqlite")
    with closing(Database.from_url(url, BEFORE)) as database:
        fill(database)
    path = configured(tmp_path / "wrong", url, auth_encryption_key=NEW)
    command = [program(f"heatconv-{daemon}"), "--config-file", path]

    ended = subprocess.run(command, check=False, capture_output=True, text=True)

    assert ended.returncode == 1
    assert ended.stderr == (
        f"heatconv-{daemon}: A value in the database is encrypted with a key that "
        "auth_encryption_old_keys lacks.\n"
    )
