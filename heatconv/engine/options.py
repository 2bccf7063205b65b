# SPDX-License-Identifier: Apache-2.0
"""What the options of a request say of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.engine.source import Source
from heatconv.model.ids import new_id
from heatconv.model.records import Held, Stack
from heatconv.model.states import Action, Phase, Status
from heatconv.rpc.context import RequestContext

Json = Mapping[str, Any]


def owner_of(options: Json) -> Held | None:
    """Return the claim of the worker that asks for a nested stack."""
    return Held(**options["owner"]) if options.get("owner") else None


def settings_of(options: Json, source: Source | None = None) -> dict[str, Any]:
    """Return the columns of a stack that a request changes by its options, or else by its environment."""
    settings = {key: options[key] for key in ("disable_rollback", "timeout_mins") if key in options}
    policy = options.get("convergence")
    if policy is None and source is not None and owner_of(options) is None:
        policy = source.environment.get("convergence")
    return settings if policy is None else settings | {"policy": policy}


def new_stack(context: RequestContext, name: str, options: Json) -> Stack:
    """Return the record of a stack that is not stored yet."""
    stack_id = options.get("stack_id") or new_id()
    return Stack(
        id=stack_id,
        name=name,
        project_id=context.project_id,
        user_id=context.user_id,
        user_name=context.user_name,
        owner_resource_id=owner.id if (owner := owner_of(options)) else None,
        root_id=stack_id,
        raw_template_id=0,
        current_traversal="",
        action=Action.CREATE if options.get("adopt") is None else Action.ADOPT,
        status=Status.IN_PROGRESS,
        phase=Phase.PREPARE,
        disable_rollback=options.get("disable_rollback", True),
        timeout_mins=options.get("timeout_mins"),
        tags=tuple(options.get("tags") or ()),
    )
