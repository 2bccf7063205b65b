# SPDX-License-Identifier: Apache-2.0
"""What may hold a user's secret is encrypted in the database, and only there."""

from __future__ import annotations

import traceback
from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.crypto import Keyring, generate_key, is_token
from heatconv.db.convergence import delegations
from heatconv.db.plumbing import sealing
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.db.plumbing.types import seconds_ago
from heatconv.db.tables import raw_template, resource, resource_data, user_creds
from heatconv.model.delegation import Delegation
from heatconv.model.ids import new_id
from heatconv.testing.keys import KEY, KEYRING

SECRET = "correct horse battery staple"
OTHER = Keyring(generate_key())


@pytest.fixture
def database(database_url):
    with closing(Database.from_url(database_url, KEYRING)) as database:
        yield database


@writing
def execute(connection, statement, *parameters):
    connection.execute(statement, *parameters)


@reading
def rows(connection, statement):
    return connection.execute(statement).all()


@reading
def opened(connection, table, name):
    return [getattr(Opened(table, row), name) for row in connection.execute(sa.select(table))]


def add_template(database, template, **more):
    values = {"environment": {}, "files": {}, "outputs": {}, "parameters": {}} | more
    values |= {"uuid": new_id(), "stack_id": "s", "template": template}
    execute(database, sa.insert(raw_template).values(placed(raw_template, values)))


def on_disk(database, column):
    [row] = rows(database, sa.text(f"SELECT {column} FROM raw_template"))
    return row[0]


def test_what_is_written_can_be_read_and_is_encrypted_on_disk(database):
    template = {"description": SECRET, "ключ": ["\N{KEY}", 1.5, None, True]}
    add_template(database, template, parameters=[])

    assert opened(database, raw_template, "template") == [template]
    assert is_token(on_disk(database, "template"))
    assert SECRET not in on_disk(database, "template")
    assert "horse" not in KEYRING.encrypt(SECRET, b"")


def test_what_says_nothing_is_not_encrypted(database):
    add_template(database, {"a": 1}, parameters=[])

    assert (on_disk(database, "files"), on_disk(database, "parameters")) == ("{}", "[]")


def test_many_rows_in_one_statement_are_encrypted_each_by_itself(database):
    values = [{"resource_id": str(n), "key": "k", "value": SECRET, "redact": True} for n in range(3)]
    execute(database, sa.insert(resource_data), [placed(resource_data, each) for each in values])

    stored = {row[0] for row in rows(database, sa.text("SELECT value FROM resource_data"))}
    assert len(stored) == 3
    assert all(map(is_token, stored))
    assert opened(database, resource_data, "value") == [SECRET] * 3


def test_what_is_written_without_saying_for_which_row_is_refused(database):
    values = {"environment": {}, "files": {}, "outputs": {}, "parameters": {}, "template": {"a": SECRET}}
    with pytest.raises(errors.StorageError, match="has to be placed") as caught:
        execute(database, sa.insert(raw_template).values(values))
    assert SECRET not in str(caught.value)
    assert rows(database, sa.select(raw_template.c.id)) == []


def test_what_was_written_before_there_were_keys_is_read_as_it_is_if_that_is_accepted(database, database_url):
    add_template(database, {"a": 1})
    execute(database, sa.text("""UPDATE raw_template SET template = '{"b": 2}'"""))

    with closing(Database.from_url(database_url, Keyring(KEY, accept_unbound=True))) as lenient:
        assert opened(lenient, raw_template, "template") == [{"b": 2}]
        sealing.check(lenient)
    with pytest.raises(errors.BrokenSeal, match="accept_unbound_values"):
        sealing.check(database)


def test_the_wrong_key_is_told_before_anything_is_done(database, database_url):
    sealing.check(database)
    add_template(database, {"a": SECRET})
    sealing.check(database)

    with closing(Database.from_url(database_url, OTHER)) as other:
        with pytest.raises(errors.WrongKey, match="auth_encryption_old_keys"):
            sealing.check(other)
        add_template(other, {"b": SECRET})
    with pytest.raises(errors.WrongKey):
        sealing.check(database)


def test_without_a_key_no_secret_is_read_or_written(database, database_url):
    add_template(database, {"a": SECRET})

    with closing(Database.from_url(database_url)) as keyless:
        with pytest.raises(errors.NoKey, match="generate_key"):
            rows(keyless, sa.select(raw_template.c.template))
        with pytest.raises(errors.NoKey):
            keyless.keyring  # noqa: B018 - asking is what raises
        assert rows(keyless, sa.select(raw_template.c.id)) == [(1,)]


def test_two_databases_of_one_process_have_a_key_each(database, fresh_database):
    url = fresh_database("sqlite")
    with closing(Database.from_url(url, OTHER)) as other:
        for each in (database, other):
            add_template(each, {"a": SECRET})
            assert opened(each, raw_template, "template") == [{"a": SECRET}]
        with pytest.raises(errors.BrokenSeal), closing(Database.from_url(url, KEYRING)) as wrong:
            opened(wrong, raw_template, "template")


def test_a_delegation_that_cannot_be_read_holds_up_none_that_can(database):
    for number, delegation_id in enumerate(("broken", "intact")):
        delegation = Delegation(
            id=delegation_id,
            stack_id="s",
            project_id="p",
            user_id="u",
            method="m",
            secret={"password": SECRET},
        )
        delegations.intend(database, delegation)
        mine = sa.update(user_creds).where(user_creds.c.id == delegation_id)
        execute(database, mine.values(due_at=seconds_ago(sa.literal(100 - number))))
    execute(database, sa.text("UPDATE user_creds SET secret = 'meddled with' WHERE id = 'broken'"))

    assert [each.id for each in delegations.take_due(database, 1)] == []
    assert [each.id for each in delegations.take_due(database, 1)] == ["intact"]
    assert delegations.take_due(database, 1) == []


@pytest.mark.parametrize(
    "expression",
    [
        lambda column: column == {},
        lambda column: column != "x",
        lambda column: column.like("x%"),
        lambda column: column.in_([{}]),
        lambda column: column.desc(),
    ],
)
def test_the_database_is_not_asked_to_compare_what_it_cannot(expression):
    with pytest.raises(TypeError, match="encrypted"):
        expression(resource.c.desired)


def test_whether_something_is_there_can_be_asked(database):
    add_template(database, {"a": 1})
    assert rows(database, sa.select(raw_template.c.id).where(raw_template.c.template.is_(None))) == []


def test_an_error_of_the_database_does_not_repeat_values(database):
    values = {"uuid": "u", "stack_id": "s", "environment": {"p": SECRET}}
    with pytest.raises(errors.StorageError) as caught:
        execute(database, sa.insert(raw_template).values(placed(raw_template, values)))

    logged = "".join(traceback.format_exception(caught.value))
    assert "INSERT INTO raw_template" in logged
    assert "parameters hidden" in logged
    assert SECRET not in logged
