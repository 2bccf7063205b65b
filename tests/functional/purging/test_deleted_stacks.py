# SPDX-License-Identifier: Apache-2.0
"""Stacks that were deleted go for good, a few at a time, and nothing else goes with them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from heatconv.db.delivery import sinks
from heatconv.db.plumbing.session import Database
from heatconv.db.purging import deleted_stacks, dropping
from heatconv.db.tables import (
    event,
    event_sent,
    event_sink,
    raw_template,
    resource,
    snapshot,
    stack,
    stack_tag,
)
from heatconv.testing.keys import KEYRING
from tests.functional.core.world import at_once
from tests.functional.purging.planted import (
    DAY,
    LONG_AGO,
    NOW,
    YESTERDAY,
    add,
    add_all,
    add_stack,
    everything,
    names,
)


def purge(database, older_than=0.0, **options):
    """Purge; return how many stacks and events have gone, and how many stacks were left."""
    *_, progress = deleted_stacks.purge(database, older_than=older_than, **options)
    return progress.stacks, progress.events, progress.left


def test_a_deleted_stack_goes_with_all_that_belongs_to_it(database):
    add_all(database, "living")
    before = everything(database)
    add_all(database, "deleted", LONG_AGO, events=3)

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
    monkeypatch.setattr(dropping, "ROWS", 3)
    for number in range(7):
        add_stack(database, f"deleted-{number}", LONG_AGO, events=number)
        add_stack(database, f"living-{number}", events=1)

    assert purge(database, batch=2) == (7, 21, 0)
    living = [f"living-{number}" for number in range(7)]
    for table in (stack, raw_template, stack_tag, snapshot, event):
        assert names(database, table) == living


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


NEEDS: dict[str, Callable[[Database], object]] = {
    "a worker holds one of its resources": partial(
        add, table=resource, id="r", stack_id="deleted", engine_id="w"
    ),
    "a worker waits for it": partial(add, table=resource, id="owner", stack_id="around", engine_id="w"),
    "a stack inside it lives on": partial(
        add, table=stack, id="inside", root_stack_id="deleted", live_name="inside"
    ),
    "a resource of it owns a stack that lives on": lambda database: (
        add(database, resource, id="r", stack_id="deleted"),
        add(database, stack, id="inside", owner_resource_id="r", root_stack_id="root", live_name="inside"),
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


def test_a_nested_stack_goes_though_the_resource_that_owned_it_is_there(database):
    """The resource may have another one by now."""
    add_stack(database, "around")
    add(database, resource, id="owner", stack_id="around")
    for name, deleted_at in (("before", LONG_AGO), ("now", None)):
        add_stack(database, name, deleted_at, owner_resource_id="owner")

    assert purge(database) == (1, 2, 0)
    assert names(database) == ["around", "now"]


def test_one_that_is_exactly_as_old_goes(database, monkeypatch):
    monkeypatch.setattr(deleted_stacks, "_moment", lambda _database, _older_than: LONG_AGO)
    for name, later in (("earlier", -1), ("at that moment", 0), ("later", 1)):
        add_stack(database, name, LONG_AGO + timedelta(microseconds=later))

    assert purge(database) == (2, 4, 0)
    assert names(database) == ["later"]


def test_a_dry_run_counts_what_would_go_and_drops_nothing(database):
    for number in range(5):
        add_all(database, f"deleted-{number}", LONG_AGO, events=number)
    add_all(database, "living")
    add_stack(database, "needed", LONG_AGO, owner_resource_id="held")
    add(database, resource, id="held", stack_id="living", engine_id="w")
    before = everything(database)

    *_, would = deleted_stacks.purge(database, older_than=0, batch=2, is_dry=True)
    assert everything(database) == before
    *_, did = deleted_stacks.purge(database, older_than=0, batch=2)

    assert (would.rows, would.left) == (did.rows, did.left)
    assert str(would) == str(did).replace("purged", "would be purged")
    went = {name: len(rows) - len(everything(database)[name]) for name, rows in before.items()}
    assert {name: count for name, count in went.items() if count} == dict(did.rows)


def test_no_event_gets_the_number_of_one_that_has_gone(database):
    """A sink that takes the events of all stacks would take it for one that it has got."""
    before = add(database, event, uuid="before", stack_id="deleted")
    add_stack(database, "deleted", LONG_AGO)

    purge(database)

    assert add(database, event, uuid="after", stack_id="living") > before + 2
