# SPDX-License-Identifier: Apache-2.0
"""What belongs to nothing any more goes, whatever stacks there are; what belongs to something stays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from heatconv.db.purging import deleted_stacks, dropping, leftovers
from heatconv.db.tables import (
    metadata,
    plan,
    quota,
    raw_template,
    resource_healing,
    resource_observed,
    resource_properties_observed,
    service,
    software_config,
    stack_observed,
)
from tests.functional.purging.planted import LONG_AGO, NOW, add, add_all, add_stack, everything

#: Tables whose rows go neither with a stack nor as leftovers, and by whom they go.
OTHERS = {
    "contraction": "has a row for each contracting revision",
    "purge_turn": "has one row",
    "request": "the recovery tick",
    "restored_stack": "who has looked at the stack, or finds it gone",
    "software_config": "its user",
    "software_deployment": "its user",
    "user_creds": "whoever gives it back",
}


def test_of_every_table_it_is_known_by_whom_its_rows_go():
    with_a_stack = {table.name for table, _ in (*deleted_stacks._PARTS, *deleted_stacks._LAST)}
    left = {each.table.name for each in leftovers.LEFTOVERS}

    assert with_a_stack | left | set(OTHERS) == set(metadata.tables)
    assert not (with_a_stack | left) & set(OTHERS)


def sweep(database, **options):
    """Sweep; return how many rows of each table have gone."""
    *_, rows = ({}, *leftovers.sweep(database, **options))
    return dict(rows)


def plant_what_stays(database):
    """Add what belongs to something, one stack of it deleted."""
    add_all(database, "living", project_id="p")
    add_stack(database, "deleted", LONG_AGO, project_id="p")
    add(database, quota, project_id="p", kind="stack")
    add(database, quota, project_id="c", kind="software_config")
    add(database, software_config, id="c", project_id="c")
    add(database, plan, id="lasting", expires_at=NOW + timedelta(days=1))
    add(database, service, engine_id="alive", updated_at=NOW)


LEFT: dict[str, tuple[sa.Table, dict[str, Any]]] = {
    "a template that no stack goes back to": (raw_template, {"stack_id": "living"}),
    "a template of no stack": (raw_template, {"stack_id": "gone"}),
    "the drift of no stack": (stack_observed, {"stack_id": "gone"}),
    "the drift of a deleted stack": (stack_observed, {"stack_id": "deleted"}),
    "what was seen of no resource": (resource_observed, {"resource_id": "gone", "stack_id": "living"}),
    "values of no resource": (
        resource_properties_observed,
        {"stack_id": "living", "resource_name": "gone"},
    ),
    "how often no resource was healed": (resource_healing, {"stack_id": "living", "resource_name": "gone"}),
    "the quota of a project without stacks": (quota, {"project_id": "q", "kind": "stack"}),
    "the quota of a project without configs": (quota, {"project_id": "p", "kind": "software_config"}),
    "a plan that has ended": (plan, {"expires_at": NOW}),
    "a daemon that is dead": (service, {"engine_id": "dead", "updated_at": LONG_AGO}),
}


@pytest.mark.parametrize("left", LEFT)
def test_what_belongs_to_nothing_goes(database, left):
    table, values = LEFT[left]
    plant_what_stays(database)
    before = everything(database)
    add(database, table, **values)

    assert sweep(database, keep_events=10) == {table.name: 1}
    assert everything(database) == before


def test_it_goes_in_portions(database, monkeypatch):
    monkeypatch.setattr(dropping, "ROWS", 3)
    plant_what_stays(database)
    before = everything(database)
    for number in range(7):
        add(database, raw_template, stack_id="living")
        add(database, resource_healing, stack_id="living", resource_name=f"gone-{number}")

    assert sweep(database) == {"raw_template": 7, "resource_healing": 7}
    assert everything(database) == before


@pytest.mark.parametrize(("keep", "kept"), [(-1, 7), (7, 7), (3, 3), (0, 0)])
def test_of_the_events_of_a_stack_the_newest_stay(database, monkeypatch, keep, kept):
    monkeypatch.setattr(dropping, "ROWS", 2)
    add_stack(database, "many", events=7)
    add_stack(database, "none", events=0)
    newest = everything(database)["event"][7 - kept :]

    assert sweep(database, keep_events=keep) == ({"event": 7 - kept} if kept < 7 else {})
    assert everything(database)["event"] == newest


def test_a_template_stays_as_long_as_a_stack_may_go_back_to_it(database):
    """That of the last COMPLETE is one; what was tried since is none, but for the last try."""
    ids = [add(database, raw_template, stack_id="web") for _ in range(4)]
    add_stack(database, "web", raw_template_id=ids[3], prev_raw_template_id=ids[0])

    sweep(database)

    with database.engine.connect() as connection:
        assert list(connection.scalars(sa.select(raw_template.c.id))) == [ids[0], ids[3]]


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_one_that_has_come_to_be_needed_in_between_stays(database, monkeypatch):
    """A resource of the name is there again once the keys have been read."""
    add_stack(database, "living")
    add(database, resource_healing, stack_id="living", resource_name="again")
    dropped = leftovers._dropped

    def _drop_later(database, leftover, found):
        add(database, metadata.tables["resource"], id="r", stack_id="living", name="again")
        return dropped(database, leftover, found)

    monkeypatch.setattr(leftovers, "_dropped", _drop_later)

    assert sweep(database) == {}
    assert len(everything(database)["resource_healing"]) == 1


def test_whoever_sweeps_comes_to_breath_after_each_look_though_nothing_is_found(database, monkeypatch):
    """An engine keeps its turn then, and sees that it is to stop."""
    monkeypatch.setattr(leftovers, "STACKS", 2)
    plant_what_stays(database)
    for number in range(5):
        add_stack(database, f"web-{number}", events=3)
    statements: list[str] = []
    sa.event.listen(database.engine, "before_cursor_execute", lambda *of: statements.append(of[2]))

    for rows in leftovers.sweep(database, keep_events=10):
        assert sum(each.startswith("SELECT") for each in statements) == 1
        assert not rows
        statements.clear()

    assert sum(each.startswith("SELECT") for each in statements) == 1  # it is the last, and no stack is left
