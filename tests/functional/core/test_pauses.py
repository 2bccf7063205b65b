# SPDX-License-Identifier: Apache-2.0
"""A server ends a transaction that pauses; a large stack may take longer than that to be laid out."""

from __future__ import annotations

import time

import pytest

from heatconv import errors
from heatconv.db.convergence import layouts, traversal_rows
from heatconv.db.plumbing import bulk, connections
from heatconv.testing.templates import Template, thing

PAUSE = 1  #: seconds after which the server ends a transaction
LONGER = 1.5
MANY = Template(**{f"R{number}": thing("1") for number in range(10)})
CHANGED = Template(**{f"R{number}": thing("2") for number in range(10)})


@pytest.fixture
def slow(world, monkeypatch):
    """Have what is computed in the midst of a transaction take longer than that may pause.

    Returns what was computed.
    """
    monkeypatch.setattr(connections, "LONGEST_PAUSE", PAUSE)
    monkeypatch.setattr(connections, "MANY_ROWS", len(MANY.hot()["resources"]))
    monkeypatch.setattr(connections, "PAUSE_FOR_ROW", PAUSE)
    computed: list[str] = []

    def slowed(name, compute):
        def slowly(*given):
            if name not in computed:
                time.sleep(LONGER)
            computed.append(name)
            return compute(*given)

        return slowly

    for module, name in ((traversal_rows, "_desired"), (layouts, "_points")):
        monkeypatch.setattr(module, name, slowed(name, getattr(module, name)))
    return computed


@pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])
def test_a_large_stack_is_laid_out_however_long_that_takes(world, slow):
    world.engine = world.new_engine()  # whose connections know of the shorter pause
    world.create(MANY)
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert is_computed_once(slow)

    slow.clear()
    world.update(CHANGED)
    world.run()
    assert world.state == "UPDATE_COMPLETE"
    assert is_computed_once(slow)


def is_computed_once(computed):
    """Return whether no transaction was tried again."""
    return computed.count("_points") == 1 and computed.count("_desired") == len(MANY.hot()["resources"])


def test_a_large_stack_is_told_that_its_name_is_taken(world, monkeypatch):
    monkeypatch.setattr(bulk, "MOST", 2)  # so that its rows are sent as they come
    monkeypatch.setattr(connections, "MANY_ROWS", len(MANY.hot()["resources"]))
    world.create(MANY)
    with pytest.raises(errors.StackExists):
        world.create(MANY)
