# SPDX-License-Identifier: Apache-2.0
"""Somebody who could write into the database, but had no key, put encrypted values where they do not belong.

Another project's attributes, copied into a row of one's own, were shown as one's own;
and a text that was not encrypted at all was taken for what the service had written.
"""

from __future__ import annotations

import base64
import sqlite3
import threading
from contextlib import closing
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from oslo_db import exception as oslo_db_exception

from heatconv import errors
from heatconv.crypto import Keyring, generate_key, is_token
from heatconv.db.convergence import recovery
from heatconv.db.delivery import sinks
from heatconv.db.plumbing import sealing
from heatconv.db.plumbing.places import Opened, place_of, placed, row_of, sealed_columns
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import SAYING_NOTHING, Json, LongText, Sealed, opened
from heatconv.db.tables import event_sink, metadata, raw_template, resource
from heatconv.resources.registry import Registry
from heatconv.testing.keys import KEY, KEYRING
from heatconv.testing.simulated import PLUGIN_DIR
from tests.functional.core import world as core
from tests.functional.core.test_walk_through import FIRST, LARGE
from tests.functional.secrets.test_rotation import configured, manage
from tests.security.attacked import attacked

SECRET = "correct horse battery staple"
LENIENT = Keyring(KEY, accept_unbound=True)

TABLES = [table for table in metadata.sorted_tables if sealed_columns(table)]
COLUMNS = [(table, name) for table in TABLES for name in sealed_columns(table)]


# -- rows of any table ------------------------------------------------------------------------


def row(table: sa.Table, number: int) -> dict[str, Any]:
    """Return a row with a secret in each sealed column, unlike that of any other number."""
    return {column.name: _value(column, number) for column in table.c}


def _value(column: sa.Column[Any], number: int) -> Any:
    secret = f"{SECRET} {column.table.name}.{column.name} {number}"
    match column.type:
        case Sealed():
            return {"secret": secret}
        case _ if column.name in sealed_columns(column.table):
            return secret
        case Json():
            return {}
        case sa.Boolean():
            return bool(number % 2)
        case sa.Integer():
            return number
        case sa.DateTime():
            return datetime.fromisoformat(f"2026-01-0{number}")  # as the database has it: UTC, unsaid
        case _:
            return f"{column.name[:12]} {number}"


@pytest.fixture
def database(database_url):
    """Return a database with two rows in each table that has something sealed."""
    with closing(Database.from_url(database_url, KEYRING)) as made:
        with made.engine.begin() as connection:
            for table in TABLES:
                connection.execute(sa.insert(table), [placed(table, row(table, n)) for n in (1, 2)])
        yield made


def is_row(table, number):
    key = row(table, number)
    return sa.and_(*(column == key[column.name] for column in table.primary_key))


def on_disk(database, table, name, number):
    with database.engine.begin() as connection:
        query = sa.select(sa.type_coerce(table.c[name], LongText)).where(is_row(table, number))
        return connection.execute(query).scalar_one()


def plant(database, table, name, number, text):
    """Write a text to where a sealed value belongs, as who has no key can."""
    with database.engine.begin() as connection:
        planted = {name: sa.literal(text, LongText)}
        connection.execute(sa.update(table).where(is_row(table, number)).values(planted))


def read(database, table, name, number):
    with database.engine.begin() as connection:
        found = connection.execute(sa.select(table).where(is_row(table, number))).one()
    return getattr(Opened(table, found), name)


def refusal(database, table, name, number):
    """Return how a value is refused; the value itself if it is not."""
    try:
        return read(database, table, name, number)
    except errors.BrokenSeal as refused:
        return str(refused)


def assert_names_the_place(said, table, name, number):
    assert isinstance(said, str), said
    assert f"{table.name}.{name} of row " in said
    parts = row(table, number)
    assert all(str(parts[each]) in said for each in row_of(table))
    assert SECRET not in said
    assert "sealed:" not in said


# -- every sealed column there is ----------------------------------------------------------------


def test_what_was_sealed_for_a_row_is_read_there(database):
    for table, name in COLUMNS:
        for number in (1, 2):
            assert is_token(on_disk(database, table, name, number))
            assert read(database, table, name, number) == row(table, number)[name]


def test_no_value_can_be_moved_to_another_row(database):
    for table, name in COLUMNS:
        plant(database, table, name, 1, on_disk(database, table, name, 2))
        assert_names_the_place(refusal(database, table, name, 1), table, name, 1)
        assert read(database, table, name, 2) == row(table, 2)[name]


def test_no_value_can_be_moved_to_another_column(database):
    values = [on_disk(database, table, name, 1) for table, name in COLUMNS]
    for (table, name), other in zip(COLUMNS, [*values[1:], values[0]], strict=True):
        plant(database, table, name, 1, other)
        assert_names_the_place(refusal(database, table, name, 1), table, name, 1)


def test_no_row_can_be_given_to_another_stack_or_project_with_its_values(database):
    owned = [(table, name) for table, name in COLUMNS if set(row_of(table)) & {"stack_id", "project_id"}]
    assert {table.name for table, _ in owned} >= {"raw_template", "resource", "event", "software_config"}
    for table in {table for table, _ in owned}:
        owner = next(each for each in row_of(table) if each in ("stack_id", "project_id"))
        with database.engine.begin() as connection:
            connection.execute(sa.update(table).where(is_row(table, 2)).values({owner: "the attacker's"}))
            found = connection.execute(sa.select(table).where(table.c[owner] == "the attacker's")).one()
        for name in sealed_columns(table):
            with pytest.raises(errors.BrokenSeal, match="the attacker's"):
                getattr(Opened(table, found), name)


def test_no_text_that_is_not_sealed_is_taken_for_one_that_is(database):
    for text in (f'{{"secret": "{SECRET}"}}', SECRET, "7", "sealed:", "gcm-siv:AAAA", "gAAAA"):
        for table, name in COLUMNS:
            plant(database, table, name, 1, text)
            assert_names_the_place(refusal(database, table, name, 1), table, name, 1)


def test_nothing_is_written_without_saying_for_which_row(database):
    for table, name in COLUMNS:
        with (
            pytest.raises(oslo_db_exception.DBError, match="has to be placed") as caught,
            database.engine.begin() as connection,
        ):
            connection.execute(sa.update(table).values({name: row(table, 1)[name]}))
        assert SECRET not in str(caught.value)


# -- what else there is goes on -----------------------------------------------------------------------


def test_one_broken_seal_does_not_stop_the_events_of_others(database):
    plant(database, event_sink, "spec", 1, on_disk(database, event_sink, "spec", 2))

    taken = sinks.take(database, ["id 1", "id 2"], lease=60)

    assert [(turn.id, turn.spec) for turn in taken] == [("id 2", row(event_sink, 2)["spec"])]


def test_one_broken_seal_does_not_stop_the_recovery_of_others(database_url, monkeypatch):
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    with closing(core.World(database_url, Registry.load([PLUGIN_DIR]))) as world:
        world.create(FIRST)
        world.run()
        held = resource.c.name.in_(["A", "B"])
        planted = {"attributes": sa.literal("sealed:AAAA", LongText)}
        with world.database.engine.begin() as connection:
            connection.execute(sa.update(resource).where(held).values(engine_id="dead"))
            connection.execute(sa.update(resource).where(resource.c.name == "A").values(planted))

        locks = recovery.dead_locks(world.database, dead_after=60, limit=10)

    assert [row.name for row in locks] == ["B"]


# -- from what earlier releases have written -------------------------------------------------------


def as_before(text, key=KEY):
    """Return a text as the last release sealed it."""
    use = HKDF(SHA256(), length=32, salt=None, info=b"heatconv database values").derive(key.encode())
    nonce = b"n" * 12
    return "gcm-siv:" + base64.b64encode(nonce + AESGCMSIV(use).encrypt(nonce, text.encode(), None)).decode()


def take_back(database, write=as_before):
    """Write all that is sealed as an earlier release would have."""
    with database.engine.begin() as connection:
        for table in TABLES:
            texts = [sa.type_coerce(table.c[name], LongText).label(name) for name in sealed_columns(table)]
            others = [column for column in table.c if column.name not in sealed_columns(table)]
            for found in connection.execute(sa.select(*others, *texts)).all():
                here = sa.and_(*(column == getattr(found, column.name) for column in table.primary_key))
                values = {
                    name: sa.literal(write(opened(text, place_of(table, name, found), KEYRING)), LongText)
                    for name in sealed_columns(table)
                    if (text := getattr(found, name)) not in SAYING_NOTHING and text is not None
                }
                if values:
                    connection.execute(sa.update(table).where(here).values(values))


def bind(database):
    """Bind all there is to its rows; return how many rows that took, and how many values are left."""
    renewed = unbound = 0
    for table in sealing.sealed_tables():
        *_, progress = sealing.renew(database, table)
        renewed += progress.renewed
        unbound += progress.unbound
    return renewed, unbound


@pytest.mark.parametrize("write", [as_before, str], ids=["encrypted", "plain"])
def test_what_earlier_releases_wrote_is_read_and_bound_as_long_as_that_is_accepted(
    database, database_url, write
):
    take_back(database, write)

    for table, name in COLUMNS:
        assert_names_the_place(refusal(database, table, name, 1), table, name, 1)
        assert "accept_unbound_values" in refusal(database, table, name, 1)
    assert bind(database) == (0, 2 * len(COLUMNS))

    with closing(Database.from_url(database_url, LENIENT)) as lenient:
        for table, name in COLUMNS:
            assert read(lenient, table, name, 2) == row(table, 2)[name]
        assert bind(lenient) == (2 * len(TABLES), 0)
    for table, name in COLUMNS:
        assert read(database, table, name, 2) == row(table, 2)[name]


def test_a_text_that_somebody_has_planted_is_not_sealed_by_the_next_rotation(database):
    plant(database, raw_template, "template", 1, '{"heat_template_version": "2021-04-16"}')
    assert bind(database) == (0, 1)
    assert "accept_unbound_values" in refusal(database, raw_template, "template", 1)


def test_binding_can_be_broken_off_anywhere_and_begun_again(database, database_url, monkeypatch):
    monkeypatch.setattr(sealing, "BATCH", 1)
    take_back(database)
    with closing(Database.from_url(database_url, LENIENT)) as lenient:
        broken_off = 0
        while True:  # one row is done each time
            progress = (each for table in sealing.sealed_tables() for each in sealing.renew(lenient, table))
            if next((each for each in progress if each.renewed), None) is None:
                break
            broken_off += 1
    assert broken_off == 2 * len(TABLES)
    assert all(read(database, table, name, 1) == row(table, 1)[name] for table, name in COLUMNS)


def test_a_template_of_a_daemon_of_the_release_before_gets_an_identity(database, database_url):
    """Such a daemon may still run when the tables have been brought to the new schema."""
    with database.engine.begin() as connection:
        connection.execute(sa.update(raw_template).values(uuid=None))
    plant(database, raw_template, "template", 1, as_before('{"a": 1}'))
    plant(database, raw_template, "template", 2, as_before('{"a": 2}'))

    with closing(Database.from_url(database_url, LENIENT)) as lenient:
        list(sealing.renew(lenient, raw_template))
    assert [read(database, raw_template, "template", number) for number in (1, 2)] == [{"a": 1}, {"a": 2}]
    plant(database, raw_template, "template", 1, on_disk(database, raw_template, "template", 2))
    assert "sealed for another place" in refusal(database, raw_template, "template", 1)


def test_an_operator_binds_what_there_is_and_is_told_when_that_is_through(database, database_url, tmp_path):
    take_back(database)
    keys = {"auth_encryption_key": KEY}
    strict = configured(tmp_path / "strict", database_url, **keys)
    lenient = configured(tmp_path / "lenient", database_url, **keys, accept_unbound_values="true")

    early = manage(strict, "update_params", "encrypt")
    assert early.returncode == 1
    assert f"{2 * len(COLUMNS)} values are not bound to their rows" in early.stderr
    assert "set accept_unbound_values and run this again" in early.stderr

    done = manage(lenient, "update_params", "encrypt")
    assert (done.returncode, done.stderr) == (0, "")
    assert "unset accept_unbound_values" in done.stdout
    assert manage(strict, "update_params", "encrypt").returncode == 0
    assert all(read(database, table, name, 1) == row(table, 1)[name] for table, name in COLUMNS)


def test_all_is_bound_while_engines_and_workers_go_on(database_url, monkeypatch):
    """They read what is there in either form, and nothing that they write is lost."""
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    monkeypatch.setattr(core, "KEYRING", LENIENT)
    monkeypatch.setattr(sealing, "BATCH", 1)
    with closing(core.World(database_url, Registry.load([PLUGIN_DIR]))) as world:
        world.create(FIRST)
        world.run()
        take_back(world.database)
        begun = threading.Event()

        def _bind():
            with closing(Database.from_url(database_url, LENIENT)) as database:
                for table in sealing.sealed_tables():
                    for _progress in sealing.renew(database, table):
                        begun.set()

        binding = threading.Thread(target=_bind)
        binding.start()
        begun.wait()
        world.update(LARGE)
        world.run()
        binding.join()
        assert world.state == "UPDATE_COMPLETE"
        assert world.differences(LARGE) == []
        assert bind(world.database) == (0, 0)
        with closing(Database.from_url(database_url, KEYRING)) as strict, strict.engine.begin() as connection:
            for table in TABLES:
                for found in connection.execute(sa.select(table)):
                    for name in sealed_columns(table):
                        getattr(Opened(table, found), name)  # or it is not bound


# -- a whole installation ----------------------------------------------------------------------------


def template(length=24):
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"password": {"type": "OS::Heat::RandomString", "properties": {"length": length}}},
        "outputs": {"password": {"value": {"get_attr": ["password", "value"]}}},
    }


def created(place, name):
    answer = place.post("/stacks", {"stack_name": name, "template": template()})
    assert answer.status_code == 201, answer.text
    assert place.settled(name)[0] == "CREATE_COMPLETE"
    return answer.json()["stack"]["id"]


def test_a_secret_that_is_copied_into_a_row_of_ones_own_is_not_shown(tmp_path):
    with attacked(tmp_path) as place:
        victims, mine = created(place, "victim"), created(place, "mine")
        path = f"/stacks/mine/{mine}"
        secret = place.ask("GET", f"/stacks/victim/{victims}").json()["stack"]["outputs"][0]["output_value"]
        with closing(sqlite3.connect(tmp_path / "state" / "heatconv.sqlite")) as disk, disk:
            [(id_,)] = disk.execute("SELECT id FROM resource WHERE stack_id = ?", [mine]).fetchall()
            for name in ("attributes", "data", "reference_id", "applied"):
                disk.execute(
                    f"UPDATE resource SET {name} = (SELECT {name} FROM resource WHERE stack_id = ?)"
                    " WHERE stack_id = ?",
                    [victims, mine],
                )

        for answer in (
            place.ask("GET", path),
            place.ask("GET", f"{path}/resources/password"),
            place.ask("GET", f"{path}/resources"),
        ):
            assert secret not in answer.text
        refused = place.ask("GET", f"{path}/resources/password")
        assert refused.status_code == 503
        said = refused.json()["error"]["message"]
        assert f"of row {mine}/{id_} " in said
        assert said.startswith("resource.")
        # Nobody else is the worse for it.
        shown = place.ask("GET", f"/stacks/victim/{victims}").json()["stack"]["outputs"][0]
        assert shown["output_value"] == secret
        place.assert_well()


def test_one_process_refuses_what_an_earlier_release_wrote_until_it_may_bind_it(tmp_path):
    with attacked(tmp_path) as place:
        stack_id = created(place, "old")
        secret = place.ask("GET", f"/stacks/old/{stack_id}").json()["stack"]["outputs"][0]["output_value"]
    key = (tmp_path / "state" / "heatconv.key").read_text().strip()
    url = f"sqlite:///{tmp_path}/state/heatconv.sqlite"
    own = Keyring(key)
    with closing(Database.from_url(url, own)) as database, pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "KEYRING", own)
        take_back(database, lambda text: as_before(text, key))

    with pytest.raises(AssertionError, match="accept_unbound_values"), attacked(tmp_path):
        pass
    for settings in ("[DEFAULT]\naccept_unbound_values = true\n", ""):
        with attacked(tmp_path, settings) as place:
            shown = place.ask("GET", f"/stacks/old/{stack_id}").json()["stack"]["outputs"][0]
            assert shown["output_value"] == secret


def test_a_key_of_an_earlier_release_goes_on_and_a_new_one_is_no_password():
    old = generate_key()[:64]
    assert Keyring(old).former_subkeys("signals")
    assert not Keyring(generate_key()).former_subkeys("signals")
