# SPDX-License-Identifier: Apache-2.0
"""Actions on a stack as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heatconv.api import views
from heatconv.api.call import Answer, Call, Stack
from heatconv.api.contract import takes
from heatconv.api.schemas import stacks as schemas
from heatconv.rpc.engine_client import Json


@takes(body=schemas.ACTION)
def act(call: Call, stack: Stack) -> Answer:
    """Start the one action that the body names."""
    (action,) = call.body
    return Answer(_ACTIONS[action](call, stack))


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


def _observe(call: Call, stack: Stack) -> Json:
    return {"drift": views.drift(call, call.engine.observe_stack(call.context, stack.id))}


def _converge(call: Call, stack: Stack) -> None:
    call.engine.converge_stack(call.context, stack.id)


_ACTIONS: Mapping[str, Callable[[Call, Stack], Json | None]] = {
    "suspend": _suspend,
    "resume": _resume,
    "check": _check,
    "rollback": _rollback,
    "cancel_update": _cancel_update,
    "cancel_without_rollback": _cancel_without_rollback,
    "observe": _observe,
    "converge": _converge,
}
