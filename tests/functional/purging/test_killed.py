# SPDX-License-Identifier: Apache-2.0
"""Whoever purges may die before or after any statement or commit: the next goes on, and nothing is lost."""

from __future__ import annotations

import itertools
import os
from contextlib import closing

import pytest

from heatconv.db.plumbing.session import Database
from heatconv.db.purging import deleted_stacks, dropping, leftovers
from heatconv.db.tables import (
    event,
    plan,
    raw_template,
    resource_healing,
    resource_observed,
    snapshot,
    stack,
    stack_tag,
)
from heatconv.testing.keys import KEYRING
from tests.chaos.mortal import Boundaries, Fate
from tests.functional.purging.planted import (
    LONG_AGO,
    NOW,
    add,
    add_all,
    add_stack,
    everything,
    names,
    put,
    rows,
)

#: From one boundary to the next that is died at.
STEPS = {"sqlite": int(os.environ.get("HEATCONV_PURGE_STEP", "7")), "postgresql": 11, "mariadb": 13}


def plant_what_goes(database):
    add_all(database, "deleted", LONG_AGO)
    add_stack(database, "also deleted", LONG_AGO)
    for _ in range(3):
        add(database, raw_template, stack_id="living")
    add(database, resource_observed, resource_id="gone", stack_id="living")
    add(database, resource_healing, stack_id="living", resource_name="gone")
    add(database, plan, id="ended", expires_at=NOW)


def purge(database):
    for _ in itertools.chain(
        leftovers.sweep(database, keep_events=2),
        deleted_stacks.purge(database, older_than=0, batch=2),
    ):
        pass


def live(database, boundaries, fate):
    """Purge, until that is done or the process is dead."""
    try:
        with boundaries.of(fate):
            purge(database)
    except BaseException:
        # Libraries that clean up after a death may turn it into an error of theirs.
        if not fate.dead:
            raise


def check_nothing_is_lost(now, living):
    for table, those in living.items():
        assert set(those) <= set(now[table]), table


def check_what_is_left_is_found_again(database):
    """A stack that has lost something has its own row still, and what it is shown with."""
    there = set(names(database))
    for table in (event, snapshot, raw_template):
        assert set(names(database, table)) <= there
    assert names(database, stack_tag) == names(database, stack)
    assert set(names(database, raw_template)) == there


@pytest.mark.timeout(600)
def test_whoever_purges_dies_anywhere(database, database_url, database_kind, monkeypatch):
    monkeypatch.setattr(dropping, "ROWS", 12)
    add_all(database, "living")
    staying = rows(database)
    living = everything(database)
    plant_what_goes(database)
    going = {
        name: [row for row in those if row not in staying[name]] for name, those in rows(database).items()
    }
    purge(database)
    assert everything(database) == living
    deaths = 0
    for last in itertools.count(1, STEPS[database_kind]):
        put(database, going)
        boundaries, fate = Boundaries(), Fate(last)
        with closing(boundaries.of_database(Database.from_url(database_url, KEYRING))) as mortal:
            live(mortal, boundaries, fate)
        check_nothing_is_lost(everything(database), living)
        check_what_is_left_is_found_again(database)

        purge(database)

        assert everything(database) == living
        if not fate.dead:
            break
        deaths += 1
    assert deaths * STEPS[database_kind] > 100
