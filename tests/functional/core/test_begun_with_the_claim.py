# SPDX-License-Identifier: Apache-2.0
"""An update is begun in the transaction that claims its row, where nobody has to be asked if it is due."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv.db.convergence import resources
from heatconv.testing.templates import Template, thing
from heatconv.worker import comparing

FIRST = Template(A=thing("a"), B=thing("b", uses=["A"]))
OTHER = FIRST.but(A=thing("other a"), B=thing("other b", uses=["A"]))


class Died(BaseException):
    """A worker is no more."""


@pytest.fixture(params=[True, False], ids=["alone", "by asking"])
def alone(request, world, monkeypatch):
    """Return whether things are compared alone, in a world that has a stack."""
    monkeypatch.setattr(world.plugin_of(FIRST["A"]), "compares_alone", request.param)
    world.create(FIRST)
    world.run()
    assert world.state == "CREATE_COMPLETE"
    return request.param


def commits_of(worker):
    """Return a list that grows with each transaction of a worker."""
    committed: list[object] = []
    sa.event.listen(worker.database.engine, "commit", committed.append)
    return committed


def test_the_row_says_so_before_its_plugin_is_called(world, alone, monkeypatch):
    world.worker.spare_capacity = 1
    type_ = world.plugin_of(FIRST["A"])
    handle_update, found = type_.handle_update, {}
    committed = commits_of(world.worker)

    def watched(plugin, *arguments):
        row = world.row(plugin.name)
        found[plugin.name] = (len(committed), world.rows()[plugin.name], row.progress["action"])
        return handle_update(plugin, *arguments)

    monkeypatch.setattr(type_, "handle_update", watched)
    world.update(OTHER)
    before = len(world.events())
    world.check("A+")
    world.come_back()

    # A is claimed; what it waits for is written; and B is claimed by that which ends A.
    first, second = (1, 3) if alone else (2, 5)
    assert found == {
        "A": (first, "UPDATE_IN_PROGRESS v0", "UPDATE"),
        "B": (second, "UPDATE_IN_PROGRESS v0", "UPDATE"),
    }
    assert [event for event in world.events()[before:] if not event.startswith("web")] == [
        f"{name} UPDATE_{status}" for name in "AB" for status in ("IN_PROGRESS", "COMPLETE")
    ]
    world.run()
    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(OTHER) == []
    assert world.rows() == dict.fromkeys("AB", "UPDATE_COMPLETE v1")


def test_who_dies_before_its_plugin_is_called_is_taken_over_from(world, alone, monkeypatch):
    type_ = world.plugin_of(FIRST["A"])

    def die(*_arguments):
        raise Died

    world.update(OTHER)
    with monkeypatch.context() as patch:
        patch.setattr(type_, "handle_update", die)
        with pytest.raises(Died):
            world.check("A+")
    assert world.rows()["A"] == "UPDATE_IN_PROGRESS v0"
    world.worker.die()
    world.worker = world.new_worker()
    world.check("A+")
    world.run()
    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(OTHER) == []
    assert sorted(call for call in world.calls() if call.startswith("update")) == ["update A", "update B"]


def test_what_is_wrong_with_the_comparison_is_told_as_ever(world, alone, monkeypatch):
    def refuse(*_arguments):
        raise ValueError("it is beyond comparison")

    monkeypatch.setattr(world.plugin_of(FIRST["A"]), "needs_replace_with_prop_diff", refuse)
    world.update(OTHER)
    world.run()
    assert world.state == "UPDATE_FAILED"
    assert "it is beyond comparison" in world.stack.status_reason
    assert world.differences(FIRST) == []


@pytest.mark.parametrize("kept", [{"hooks": ("pre-update",)}, {"restricted_actions": ("update",)}])
def test_what_is_kept_from_being_updated_is_not_begun(world, alone, registry, kept):
    row = resources.find(world.database, world.row("A").id)
    assert row is not None
    assert row.applied is not None
    wanted = row.applied.changed(properties={**row.applied.properties, "value": "other a"}, **kept)
    assert not comparing.is_update(registry, row, wanted, lambda _definition: pytest.fail("it was compared"))
