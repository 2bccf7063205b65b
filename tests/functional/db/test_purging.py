# SPDX-License-Identifier: Apache-2.0
"""Stacks that were deleted go for good, a few at a time, and nothing else goes with them."""

from __future__ import annotations

import itertools
import subprocess
import threading
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from heatconv.db.convergence import purging
from heatconv.db.delivery import sinks
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import Json, Sealed
from heatconv.db.tables import (
    event,
    event_sent,
    event_sink,
    metadata,
    raw_template,
    resource,
    snapshot,
    stack,
    stack_tag,
)
from heatconv.testing.keys import KEYRING
from tests.functional.core.world import at_once
from tests.functional.servers.processes import program

NOW = datetime.now(UTC).replace(tzinfo=None)
YESTERDAY, LONG_AGO = NOW - timedelta(days=1), NOW - timedelta(days=100)
DAY = 86400.0
NUMBERS = itertools.count(1)


@pytest.fixture
def database(database_url):
    with closing(Database.from_url(database_url, KEYRING)) as opened:
        yield opened


def add(database, table, **values):
    """Add a row; a column that needs a value and is given none has any."""
    generated = [column for column in table.primary_key if isinstance(column.type, sa.BigInteger)]
    needed = [column for column in table.c if not column.nullable and column.server_default is None]
    filled = {column.name: anything(column) for column in needed if column not in generated}
    with database.engine.begin() as connection:
        connection.execute(sa.insert(table).values({**filled, **values}))


def anything(column):
    if isinstance(column.type, (Json, Sealed)):
        return {}
    return {bool: False, int: 0, str: "x", datetime: LONG_AGO}[column.type.python_type]


def add_stack(database, name, deleted_at=None, *, events=2, **values):
    """Add a stack with all that can belong to one."""
    living = {"live_name": name} if deleted_at is None else {}
    add(database, stack, id=name, name=name, deleted_at=deleted_at, root_stack_id=name, **living, **values)
    add(database, raw_template, stack_id=name)
    add(database, stack_tag, stack_id=name, tag="tag")
    add(database, snapshot, id=name, stack_id=name)
    for _ in range(events):
        add(database, event, uuid=f"event-{next(NUMBERS)}", stack_id=name)


def names(database, table=stack):
    """Return the names of the stacks that have rows in a table, one for each row."""
    column = table.c.id if table is stack else table.c.stack_id
    with database.engine.connect() as connection:
        return sorted(connection.scalars(sa.select(column)))


def purge(database, older_than=0.0, **options):
    """Purge; return how many stacks and events have gone, and how many stacks were left."""
    *_, progress = purging.purge(database, older_than=older_than, **options)
    return progress.stacks, progress.events, progress.left


def everything(database):
    with database.engine.connect() as connection:
        return {
            name: sorted(map(repr, connection.execute(sa.select(table))))
            for name, table in metadata.tables.items()
        }


def test_a_deleted_stack_goes_with_all_that_belongs_to_it(database):
    add_stack(database, "living")
    before = everything(database)
    add_stack(database, "deleted", LONG_AGO, events=3)

    assert purge(database) == (1, 3, 0)
    assert everything(database) == before


@pytest.mark.parametrize(
    ("older_than", "gone"), [(0, ["long ago", "yesterday"]), (50 * DAY, ["long ago"]), (200 * DAY, [])]
)
def test_they_go_by_their_age(database, older_than, gone):
    add_stack(database, "long ago", LONG_AGO)
    add_stack(database, "yesterday", YESTERDAY)
    add_stack(database, "living", created_at=LONG_AGO)

    assert purge(database, older_than) == (len(gone), 2 * len(gone), 0)
    assert names(database) == sorted({"living", "long ago", "yesterday"} - set(gone))


def test_those_of_another_project_stay(database):
    add_stack(database, "mine", LONG_AGO, project_id="me")
    add_stack(database, "yours", LONG_AGO, project_id="you")

    assert purge(database, project_id="me") == (1, 2, 0)
    assert names(database) == names(database, raw_template) == ["yours"]


def test_batches_come_to_the_same(database, monkeypatch):
    monkeypatch.setattr(purging, "EVENTS", 3)
    for number in range(7):
        add_stack(database, f"deleted-{number}", LONG_AGO, events=number)
        add_stack(database, f"living-{number}", events=1)

    assert purge(database, batch=2) == (7, 21, 0)
    living = [f"living-{number}" for number in range(7)]
    for table in (stack, raw_template, stack_tag, snapshot, event):
        assert names(database, table) == living


class PowerFailureError(Exception):
    """Ends whoever purges, anywhere."""


def test_whoever_is_broken_off_is_gone_on_from(database, monkeypatch):
    """It ends before a transaction, whichever that is; what is there is whole, or found again."""
    monkeypatch.setattr(purging, "EVENTS", 2)
    write = database.write
    for last in itertools.count():
        for name in ("a", "b", "c"):
            add_stack(database, name, LONG_AGO, events=3)
        left = itertools.count(last, -1)

        def _write(transaction, left=left):
            if next(left) == 0:
                raise PowerFailureError
            return write(transaction)

        monkeypatch.setattr(database, "write", _write)
        with suppress(PowerFailureError):
            purge(database, batch=2)
        broken_off = next(left) < 0
        monkeypatch.setattr(database, "write", write)

        assert set(names(database, event)) <= set(names(database)) == set(names(database, raw_template))
        purge(database)
        assert names(database) == names(database, event) == names(database, raw_template) == []
        if not broken_off:
            return


def test_of_two_at_once_each_stack_goes_once(database, database_url, monkeypatch):
    """Both have read which stacks are to go before either begins."""
    for number in range(6):
        add_stack(database, f"deleted-{number}", LONG_AGO)
    both_have_read = threading.Barrier(2)

    def _meet(read):
        def _read(function):
            found = read(function)
            if found:
                both_have_read.wait(timeout=30)
            return found

        return _read

    with closing(Database.from_url(database_url, KEYRING)) as other:
        for each in (database, other):
            monkeypatch.setattr(each, "read", _meet(each.read))
        ends = at_once(lambda: purge(database), lambda: purge(other))

    assert [sum(counts) for counts in zip(*ends, strict=True)] == [6, 12, 0]
    assert names(database) == []


NEEDS = {
    "one of its resources is still there": partial(add, table=resource, id="r", stack_id="deleted"),
    "its owner is being deleted": partial(add, table=resource, id="owner", stack_id="around"),
    "a stack inside it lives on": partial(
        add, table=stack, id="inside", root_stack_id="deleted", live_name="inside"
    ),
}


@pytest.mark.parametrize("need", NEEDS)
def test_one_that_is_needed_is_left(database, need):
    add_stack(database, "deleted", LONG_AGO, owner_resource_id="owner")
    NEEDS[need](database)
    before = everything(database)

    assert purge(database) == (0, 0, 1)
    assert everything(database) == before


@pytest.mark.parametrize("sink", ["deleted", None])
def test_events_are_delivered_before_they_go(database, sink):
    hour_ago = NOW - timedelta(hours=1)
    add_stack(database, "deleted", hour_ago)
    add(database, event_sink, id="s" if sink else sinks.ALL_STACKS, stack_id=sink, due_at=NOW)
    assert purge(database) == (0, 0, 1)

    with database.engine.begin() as connection:
        delivered = sa.update(event_sink).values(cursor=sa.select(sa.func.max(event.c.id)).scalar_subquery())
        connection.execute(sa.delete(event_sink) if sink else delivered)
    assert purge(database) == (1, 2, 0)


def test_events_that_nobody_takes_go_with_their_sink(database):
    add_stack(database, "deleted", LONG_AGO)
    add(database, event_sink, id="s", stack_id="deleted")
    add(database, event_sent, sink_id="s", event_id=1)

    assert purge(database) == (1, 2, 0)
    assert not any(everything(database).values())


def manage(path, *arguments):
    command = [program("heatconv-manage"), "--config-file", path, "purge_deleted", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.fixture
def config_file(database_url, tmp_path):
    path = tmp_path / "heatconv.conf"
    path.write_text(f"[database]\nconnection = {database_url}\n")
    return path


def test_an_operator_purges(database, config_file):
    """Called as heat-manage is; no key is needed."""
    add_stack(database, "long ago", LONG_AGO, project_id="me")
    add_stack(database, "yours", YESTERDAY, project_id="you")
    add_stack(database, "yesterday", YESTERDAY, project_id="me")

    assert manage(config_file).stdout == "1 deleted stacks purged, with 2 events\n"
    assert names(database) == ["yesterday", "yours"]
    assert manage(config_file, "-g", "hours", "-p", "me", "-b", "1", "20").stdout.startswith("1 ")
    assert names(database) == ["yours"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-1"], "-1 is not a number from 0 to"),
        (["soon"], "argument age: invalid number value: 'soon'"),
        (["-b", "0"], "0 is not a number from 1 to 1000"),
        (["-g", "weeks"], "invalid choice: 'weeks'"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, arguments, complaint):
    path = tmp_path / "heatconv.conf"
    path.write_text("[database]\nconnection = sqlite://\n")

    refused = manage(path, *arguments)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert complaint in refused.stderr


def test_no_age_is_too_great(database, config_file):
    add_stack(database, "long ago", LONG_AGO)

    done = manage(config_file, "3153600000")

    assert (done.stdout, done.stderr) == ("0 deleted stacks purged, with 0 events\n", "")
