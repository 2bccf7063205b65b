# SPDX-License-Identifier: Apache-2.0
"""Engines purge by the clock: one at a time, and the next goes on where another died or stopped."""

from __future__ import annotations

from contextlib import closing

import pytest

from heatconv.db.plumbing.session import Database
from heatconv.db.purging import dropping, turn
from heatconv.db.tables import event, raw_template
from heatconv.engine.purging import Purging, Retention
from heatconv.testing.keys import KEYRING
from tests.functional.core.world import at_once
from tests.functional.purging.planted import DAY, LONG_AGO, YESTERDAY, add, add_all, everything, names

OFTEN = 0.0  #: seconds from one purge to the next


def purging(database, deleted_stacks=None, *, every=3600.0, keep_events=-1):
    retention = Retention(deleted_stacks=deleted_stacks, every=every)
    return Purging(database, retention, keep_events=keep_events)


def plant(database):
    """Add what goes in any case, what goes by its age, and what stays."""
    add_all(database, "living", events=3)
    add_all(database, "yesterday", YESTERDAY)
    add_all(database, "long ago", LONG_AGO)
    add(database, raw_template, stack_id="living")


def test_what_nobody_needs_goes_and_deleted_stacks_do_by_their_age(database):
    plant(database)

    purging(database, 50 * DAY, keep_events=2).tick()

    assert names(database) == ["living", "yesterday"]
    assert names(database, raw_template) == ["living", "yesterday"]
    assert names(database, event).count("living") == 2


def test_deleted_stacks_stay_if_nobody_has_said_for_how_long(database):
    plant(database)

    purging(database).tick()

    assert names(database) == ["living", "long ago", "yesterday"]
    assert names(database, raw_template) == ["living", "long ago", "yesterday"]


def test_the_next_purge_is_some_time_later_whosever_it_is(database):
    purging(database, 0, every=3600).tick()
    add_all(database, "deleted", LONG_AGO)
    before = everything(database)

    purging(database, 0).tick()

    assert everything(database) == before


def test_each_purge_drops_what_there_is_by_then(database):
    engine = purging(database, 0, every=OFTEN)
    for _ in range(3):
        add_all(database, "deleted", LONG_AGO)
        engine.tick()
        assert names(database) == []


def test_of_two_that_begin_at_once_one_has_the_turn(database, database_url):
    for _ in range(2):  # at first there is no row, then there is one
        with closing(Database.from_url(database_url, KEYRING)) as other:
            claims = at_once(
                lambda: turn.try_take(database, lease=60), lambda: turn.try_take(other, lease=60)
            )
        claim = next(filter(None, claims))
        assert claims.count(None) == 1
        assert turn.try_end(database, claim, again_in=OFTEN)


def test_the_turn_of_one_that_died_is_anothers_when_its_lease_is_over(database):
    plant(database)
    dead = turn.try_take(database, lease=0)
    assert dead is not None

    purging(database, 0).tick()

    assert names(database) == ["living"]
    assert not turn.try_keep(database, dead, seconds=60)
    assert not turn.try_end(database, dead, again_in=0)


def test_one_that_was_away_for_longer_than_its_lease_leaves_it_to_the_other(database, monkeypatch):
    monkeypatch.setattr(dropping, "ROWS", 5)
    plant(database)
    slow, keep = purging(database, 0), turn.try_keep
    taken: list[str] = []

    def _keep_too_late(database, claim, *, seconds):
        assert keep(database, claim, seconds=0)
        taken.extend(filter(None, [turn.try_take(database, lease=60)]))
        return keep(database, claim, seconds=seconds)

    monkeypatch.setattr(turn, "try_keep", _keep_too_late)
    slow.tick()

    assert len(taken) == 1
    assert "long ago" in names(database)
    assert turn.try_end(database, taken[0], again_in=0)


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_one_that_stops_leaves_the_rest_to_the_others_at_once(database, monkeypatch):
    monkeypatch.setattr(dropping, "ROWS", 5)
    plant(database)
    stopped, keep = purging(database, 0), turn.try_keep

    def _keep_and_stop(database, claim, *, seconds):
        stopped.stop()
        return keep(database, claim, seconds=seconds)

    monkeypatch.setattr(turn, "try_keep", _keep_and_stop)
    stopped.tick()
    assert "long ago" in names(database)

    purging(database, 0).tick()
    assert names(database) == ["living"]
