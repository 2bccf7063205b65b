# SPDX-License-Identifier: Apache-2.0
"""A stack has another fingerprint whenever it has changed, in whichever order transactions end."""

from __future__ import annotations

import uuid

import pytest
import sqlalchemy as sa

from heatconv.db.convergence.fingerprints import OVERTAKING, fingerprints
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import event, stack
from heatconv.testing.keys import KEYRING
from tests.functional.api.planted import Planted, at
from tests.functional.servers.databases import KINDS
from tests.perf.counting import count_statements
from tests.perf.tally import Tally

SERVERS = [kind for kind in KINDS if kind != "sqlite"]  # which has one writer at a time


@pytest.fixture(params=KINDS)
def database(request, fresh_database):
    database = Database.from_url(fresh_database(request.param), KEYRING)
    yield database
    database.close()


def planted(database, number=1, events=0):
    """Return the ids of stacks with so many events each."""
    rows = Planted()
    stacks = [rows.stack(f"s{each}") for each in range(number)]
    for each in stacks:
        for _ in range(events):
            rows.event(each, "a")
    rows.write(database)
    return stacks


def happen(connection, stack_id):
    """Write an event of a stack."""
    row = {"stack_id": stack_id, "resource_name": "a", "resource_type": "t", "action": "CREATE"}
    more = {"status": "COMPLETE", "status_reason": "", "created_at": at(0), "uuid": str(uuid.uuid4())}
    connection.execute(sa.insert(event).values({**row, **more}))


def change(connection, stack_id):
    connection.execute(
        sa.update(stack).where(stack.c.id == stack_id).values(atomic_key=stack.c.atomic_key + 1)
    )


@pytest.mark.parametrize("events", [0, 1, OVERTAKING - 1, OVERTAKING, OVERTAKING + 1])
@pytest.mark.parametrize("what", [happen, change])
def test_it_is_another_after_each_change_of_the_stack_and_of_no_other(database, what, events):
    web, other = planted(database, 2, events)
    before = fingerprints(database, [web, other])
    assert fingerprints(database, [web, other]) == before

    with database.engine.begin() as connection:
        what(connection, web)

    after = fingerprints(database, [web, other])
    assert after[web] != before[web]
    assert after[other] == before[other]


def test_a_stack_that_is_not_there_has_none(database):
    (web,) = planted(database)
    assert set(fingerprints(database, [web, str(uuid.uuid4())])) == {web}


def test_it_takes_as_many_statements_however_many_stacks_there_are(database):
    stacks = planted(database, 300, 2)
    tally = Tally()
    count_statements(database.engine, tally)
    fingerprints(database, stacks[:1])
    one = tally.take()["statements"]
    assert len(fingerprints(database, stacks)) == 300
    assert tally.take()["statements"] == one


@pytest.mark.parametrize("database", SERVERS, indirect=True)
@pytest.mark.parametrize("events", [0, 3, OVERTAKING + 5])
@pytest.mark.parametrize("overtaking", [1, OVERTAKING - 1])
def test_what_was_written_first_and_committed_last_is_not_missed(database, events, overtaking):
    (web,) = planted(database, 1, events)
    with database.engine.connect() as late:
        with late.begin():
            happen(late, web)
            for _ in range(overtaking):
                with database.engine.begin() as connection:
                    happen(connection, web)
            before = fingerprints(database, [web])
        assert fingerprints(database, [web]) != before
