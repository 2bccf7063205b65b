# SPDX-License-Identifier: Apache-2.0
"""An engine dies when it has stopped a stack, and not yet those nested in it."""

from __future__ import annotations

import threading
import time

import pytest
import sqlalchemy as sa

from heatconv.db import tables
from heatconv.model.ids import new_id
from tests.functional.once.serving import PATIENCE, Died, Serving, empty

HOUR = {"type": "OS::Heat::TestResource", "properties": {"action_wait_secs": {"create": 3600}}}


def group(of):
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": of}}


def begin(serving: Serving, name: str) -> None:
    """Begin to create a tree of three levels, in the lowest of which four resources take an hour."""
    template = empty() | {"resources": {"G": group(group(HOUR))}}
    source = {"template": template, "environment": {}, "files": {}, "parameters": {}}
    options = {"stack_id": new_id(), "disable_rollback": True}
    serving.ask("create_stack", name=name, source=source, options=options)
    waiting = sa.select(tables.resource.c.id).where(
        tables.resource.c.type == HOUR["type"], tables.resource.c.status == "IN_PROGRESS"
    )
    deadline = time.monotonic() + PATIENCE
    while len(serving.read(waiting)) < 4:
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def test_what_is_nested_is_stopped_all_the_same(serving):
    begin(serving, "tree")

    with pytest.raises(Died):
        serving.ask("cancel_stack", dies_after=1, stack="tree", rollback=False)

    serving.rest()
    stack = tables.stack
    ended = serving.read(
        sa.select(stack.c.nested_depth, stack.c.action, stack.c.status, stack.c.status_reason)
    )
    assert sorted(ended) == [(depth, "CREATE", "FAILED", "Stack CREATE cancelled") for depth in (0, 1, 2, 2)]
