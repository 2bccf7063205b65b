# SPDX-License-Identifier: Apache-2.0
"""Who follows a stack by a cursor misses no event, on each database, in whichever order transactions end."""

from __future__ import annotations

import threading
import uuid

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db.convergence.fingerprints import tree_fingerprints
from heatconv.db.delivery.events import drop_old_events
from heatconv.db.plumbing.session import Database
from heatconv.db.purging import leftovers
from heatconv.db.tables import event, resource, stack
from heatconv.engine.changing import Changing
from heatconv.rpc.context import RequestContext
from heatconv.testing.keys import KEYRING
from tests.functional.api.planted import PROJECT, Planted, at
from tests.functional.servers.databases import KINDS
from tests.perf.counting import count_statements
from tests.perf.tally import Tally

SERVERS = [kind for kind in KINDS if kind != "sqlite"]  # which has one writer at a time
CONTEXT = RequestContext(project_id=PROJECT)
NOW = {  # by the database's clock: what happened long ago is settled
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'",
    "postgresql": "timezone('utc', clock_timestamp())",
    "mysql": "UTC_TIMESTAMP(6)",
}


@pytest.fixture(params=KINDS)
def database(request, fresh_database):
    database = Database.from_url(fresh_database(request.param), KEYRING)
    yield database
    database.close()


@pytest.fixture
def rows():
    return Planted()


@pytest.fixture
def follower(database):
    return Follower(Changing(database))


class Follower:
    """A client that keeps the cursor of each answer."""

    def __init__(self, changing):
        self._changing = changing
        self._cursor = None
        self.answer = None

    def look(self, stack_id, limit=500):
        """Return the names that the new events are of."""
        self.answer = self._changing.list_changes(CONTEXT, stack_id, self._cursor, limit)
        self._cursor = self.answer["cursor"]
        return [each["resource_name"] for each in self.answer["events"]]


def happen(connection, stack_id, name, moment=None):
    """Write an event of a resource, that has begun to be created: now, or at another time."""
    now: sa.ColumnElement[str] = sa.literal_column(NOW[connection.dialect.name])
    row = {"stack_id": stack_id, "resource_name": name, "resource_type": "t", "action": "CREATE"}
    more = {
        "status": "IN_PROGRESS",
        "status_reason": "",
        "created_at": moment or now,
        "uuid": str(uuid.uuid4()),
    }
    connection.execute(sa.insert(event).values({**row, **more}))


def drop(database, stack_id, dropping, keep):
    """Drop the oldest events of a stack, as an action on it does when it begins, or as a purge does."""
    if dropping == "an action":
        database.write(lambda connection: drop_old_events(connection, stack_id, keep=keep))
        return
    for _ in leftovers.sweep(database, keep_events=keep):
        pass


@pytest.mark.parametrize("database", SERVERS, indirect=True)
@pytest.mark.parametrize("long_ago", [0, 3])
@pytest.mark.parametrize("overtaking", [1, 40])
def test_what_was_written_first_and_committed_last_is_not_missed(
    database, rows, follower, overtaking, long_ago
):
    web = rows.stack("web")
    for _ in range(long_ago):
        rows.event(web, "old")
    rows.write(database)
    follower.look(web)
    with database.engine.connect() as late:
        with late.begin():
            happen(late, web, "late")
            for number in range(overtaking):
                with database.engine.begin() as connection:
                    happen(connection, web, f"e{number}")
                assert follower.look(web)[-1] == f"e{number}"
        assert "late" in follower.look(web)
    assert follower.look(web) == []
    assert not follower.answer["news"]


def test_two_that_write_at_the_same_time_are_both_seen(database, rows, follower):
    """On SQLite the second waits for the first: what has a smaller number was committed before."""
    web = rows.stack("web")
    rows.write(database)
    follower.look(web)
    first_has_written, seen = threading.Event(), []

    def second():
        first_has_written.wait()
        database.write(lambda connection: happen(connection, web, "second"))

    thread = threading.Thread(target=second)
    thread.start()
    with database.engine.begin() as connection:
        happen(connection, web, "first")
        first_has_written.set()
        seen += follower.look(web)
        seen += follower.look(web)
    thread.join()
    seen += follower.look(web)
    assert set(seen) == {"first", "second"}


def test_what_was_rolled_back_never_happened(database, rows, follower):
    web = rows.stack("web")
    rows.write(database)
    follower.look(web)
    with database.engine.connect() as undone, undone.begin() as transaction:
        happen(undone, web, "undone")
        transaction.rollback()
    with database.engine.begin() as connection:
        happen(connection, web, "a")
    assert follower.look(web) == ["a"]
    assert follower.look(web) == []


def test_a_resource_is_told_as_it_is_now_and_once(database, rows, follower):
    web = rows.stack("web")
    rows.resource(web, "net")
    server = rows.resource(web, "server", requires=("net",))
    rows.write(database)
    follower.look(web)
    with database.engine.begin() as connection:
        happen(connection, web, "server")
        happen(connection, web, "server")
        happen(connection, web, "removed")
        failed = {"status": "FAILED", "status_reason": "no quota"}
        connection.execute(sa.update(resource).where(resource.c.id == server).values(failed))

    assert follower.look(web) == ["server", "server", "removed"]
    server_now, gone = follower.answer["resources"]
    assert (server_now["name"], server_now["status"], server_now["reason"]) == (
        "server",
        "FAILED",
        "no quota",
    )
    assert (server_now["requires"], server_now["wanted"], server_now["clearing"]) == (["net"], True, 0)
    assert server_now["stack"] == {"name": "web", "id": web}
    assert (gone["name"], gone["gone"]) == ("removed", True)


def test_what_is_nested_is_told_with_the_stack_around_it_and_nobody_elses(database, rows, follower):
    web = rows.stack("web", root_stack_id=None)
    inner = rows.stack("inner", owner_resource_id=rows.resource(web, "group"), root_stack_id=web)
    other = rows.stack("other", root_stack_id=None)
    rows.resource(inner, "member")
    rows.write(database)
    follower.look(web)
    of_inner = Follower(Changing(database))
    of_inner.look(inner)
    of_web = Changing(database).list_changes(CONTEXT, web, nested=False)["cursor"]
    before = tree_fingerprints(database, [web, inner, other])
    with database.engine.begin() as connection:
        happen(connection, other, "foreign")
    assert follower.look(web) == []
    with database.engine.begin() as connection:
        happen(connection, inner, "member")

    assert follower.look(web) == ["member"]
    assert follower.answer["resources"][0]["stack"] == {"name": "inner", "id": inner}
    assert of_inner.look(inner) == ["member"]
    after = tree_fingerprints(database, [web, inner, other])
    assert all(after[each] != before[each] for each in (web, inner, other))
    assert Changing(database).changed_trees(CONTEXT, {web: after[web], inner: ""}) == {inner: after[inner]}

    alone = Changing(database).list_changes(CONTEXT, web, of_web, nested=False)
    assert not alone["news"]

    with database.engine.begin() as connection:
        happen(connection, web, "group")
    assert of_inner.look(inner) == []
    assert tree_fingerprints(database, [inner]) == {inner: after[inner]}
    assert tree_fingerprints(database, [web])[web] != after[web]


def test_a_change_of_the_stack_itself_is_news(database, rows, follower):
    web = rows.stack("web")
    rows.write(database)
    follower.look(web)
    follower.look(web)
    assert not follower.answer["news"]
    with database.engine.begin() as connection:
        connection.execute(sa.update(stack).values(atomic_key=2, phase="GC"))
    follower.look(web)
    assert follower.answer["news"]
    assert follower.answer["stack"]["phase"] == "GC"


def test_who_comes_back_after_events_were_dropped_is_told_so(database, rows, follower):
    web = rows.stack("web")
    rows.event(web, "old")
    rows.write(database)
    follower.look(web)
    with database.engine.begin() as connection:
        connection.execute(sa.delete(event))
        happen(connection, web, "new")
    assert follower.look(web) == []
    assert follower.answer["missed"]
    with database.engine.begin() as connection:
        happen(connection, web, "newer")
    assert follower.look(web) == ["newer"]


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("dropping", ["an action", "a purge"])
def test_what_was_dropped_of_any_stack_is_said_once(database, rows, follower, dropping, nested):
    """The newest one that is settled is of the stack around it, and stays."""
    web = rows.stack("web", root_stack_id=None)
    inner = rows.stack("inner", owner_resource_id=rows.resource(web, "group"), root_stack_id=web)
    rows.event(web, "floor")
    rows.write(database)
    follower.look(web)
    of_web = Changing(database).list_changes(CONTEXT, web, nested=False)["cursor"]
    with database.engine.begin() as connection:
        for name in ("gone", "gone", "kept"):
            happen(connection, inner, name, at(1))
    drop(database, inner, dropping, keep=1)

    if nested:
        assert follower.look(web) == []
        assert follower.answer["missed"]
        with database.engine.begin() as connection:
            happen(connection, inner, "new")
        assert follower.look(web) == ["new"]
    else:
        assert not Changing(database).list_changes(CONTEXT, web, of_web, nested=False)["missed"]


@pytest.mark.parametrize("dropping", ["an action", "a purge"])
def test_what_was_dropped_is_said_to_who_began_before_anything_had_happened(
    database, rows, follower, dropping
):
    web = rows.stack("web")
    rows.write(database)
    follower.look(web)
    with database.engine.begin() as connection:
        for name in ("gone", "kept"):
            happen(connection, web, name, at(1))
    drop(database, web, dropping, keep=1)

    assert follower.look(web) == []
    assert follower.answer["missed"]


@pytest.mark.parametrize("dropping", ["an action", "a purge"])
def test_who_is_left_no_settled_event_goes_on(database, rows, follower, dropping):
    web = rows.stack("web")
    rows.event(web, "gone")
    rows.write(database)
    drop(database, web, dropping, keep=0)

    for name in ("a", "b"):
        follower.look(web)
        with database.engine.begin() as connection:
            happen(connection, web, name)
        assert follower.look(web) == [name]


@pytest.mark.parametrize("dropping", ["an action", "a purge"])
def test_what_is_not_settled_is_not_dropped(database, rows, follower, dropping):
    web = rows.stack("web")
    rows.event(web, "gone")
    rows.write(database)
    with database.engine.begin() as connection:
        happen(connection, web, "young")
    drop(database, web, dropping, keep=0)

    with database.engine.connect() as connection:
        assert list(connection.scalars(sa.select(event.c.resource_name))) == ["young"]


def test_it_takes_as_many_statements_however_much_is_new(database, rows, follower):
    web = rows.stack("web", root_stack_id=None)
    inside = [
        rows.stack(f"in{each}", owner_resource_id=rows.resource(web, f"g{each}"), root_stack_id=web)
        for each in range(50)
    ]
    for each in inside:
        rows.resource(each, "member")
    rows.write(database)
    tally = Tally()
    count_statements(database.engine, tally)
    follower.look(web)
    tally.take()
    with database.engine.begin() as connection:
        happen(connection, inside[0], "member")
    tally.take()
    assert len(follower.look(web)) == 1
    one = tally.take()["statements"]
    with database.engine.begin() as connection:
        for each in inside:
            happen(connection, each, "member")
    tally.take()
    assert len(follower.look(web)) == 50
    assert tally.take()["statements"] == one
    assert len(follower.answer["resources"]) == 50


def test_a_stack_of_another_project_is_not_found(database, rows):
    web = rows.stack("web")
    rows.write(database)
    with pytest.raises(errors.NotFound):
        Changing(database).list_changes(RequestContext(project_id="another"), web)
