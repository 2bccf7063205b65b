# SPDX-License-Identifier: Apache-2.0
"""Snapshots: a stack as it was at some moment, and the way back there."""

from __future__ import annotations

from http import HTTPStatus

from heatconv.api import views
from heatconv.api.call import NO_CONTENT, Answer, Call, Stack, notice
from heatconv.api.contract import takes
from heatconv.api.schemas import snapshots as schemas


@takes(body=schemas.CREATE)
def create(call: Call, stack: Stack) -> Answer:
    """Start to make a snapshot of a stack."""
    row = call.engine.create_snapshot(call.context, stack.id, call.body.get("name"))
    return Answer(views.snapshot(row))


def index(call: Call, stack: Stack) -> Answer:
    """List the snapshots of a stack."""
    rows = call.engine.list_snapshots(call.context, stack.id)
    return Answer({"snapshots": [views.snapshot(row) for row in rows]})


def show(call: Call, stack: Stack, snapshot_id: str) -> Answer:
    """Show a snapshot with all that it holds."""
    return Answer(
        {"snapshot": views.snapshot(call.engine.show_snapshot(call.context, stack.id, snapshot_id))}
    )


@takes(answers=HTTPStatus.NO_CONTENT)
def delete(call: Call, stack: Stack, snapshot_id: str) -> Answer:
    """Start to delete a snapshot."""
    call.engine.delete_snapshot(call.context, stack.id, snapshot_id)
    return NO_CONTENT


@takes(answers=HTTPStatus.ACCEPTED)
def restore(call: Call, stack: Stack, snapshot_id: str) -> Answer:
    """Start to bring a stack back to a snapshot."""
    call.engine.restore_snapshot(call.context, stack.id, snapshot_id)
    return notice(HTTPStatus.ACCEPTED)
