# SPDX-License-Identifier: Apache-2.0
"""Actions on a stack as a whole."""

from __future__ import annotations

from heatconv.api.call import Answer, Call, Stack
from heatconv.api.contract import takes
from heatconv.api.schemas import stacks as schemas


@takes(body=schemas.ACTION)
def act(call: Call, stack: Stack) -> Answer:
    """Start the one action that the body names."""
    (action,) = call.body
    _ACTIONS[action](call, stack)
    return Answer(None)


def _suspend(call: Call, stack: Stack) -> None:
    call.engine.suspend_stack(call.context, stack.id)


def _resume(call: Call, stack: Stack) -> None:
    call.engine.resume_stack(call.context, stack.id)


def _check(call: Call, stack: Stack) -> None:
    call.engine.check_stack(call.context, stack.id)


def _rollback(call: Call, stack: Stack) -> None:
    call.engine.rollback_stack(call.context, stack.id)


def _cancel_update(call: Call, stack: Stack) -> None:
    call.engine.cancel_stack(call.context, stack.id, rollback=True)


def _cancel_without_rollback(call: Call, stack: Stack) -> None:
    call.engine.cancel_stack(call.context, stack.id, rollback=False)


_ACTIONS = {
    "suspend": _suspend,
    "resume": _resume,
    "check": _check,
    "rollback": _rollback,
    "cancel_update": _cancel_update,
    "cancel_without_rollback": _cancel_without_rollback,
}
