# SPDX-License-Identifier: Apache-2.0
"""The stack that a traversal begins with: its row, its template, and what its settings say elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.delivery import sinks
from heatconv.db.observation import schedule
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.types import seconds_ago, utcnow
from heatconv.db.tables import raw_template, stack, stack_tag
from heatconv.model.ids import new_id
from heatconv.model.plan import TraversalSpec
from heatconv.model.records import RawTemplate, Stack
from heatconv.model.states import VISITS, Phase, Status

#: The statements are built once: to build one takes as long as to have it carried out.
_ADD = sa.insert(stack).values(created_at=utcnow(), deadline=seconds_ago(sa.bindparam("since_deadline")))
_TAKE = (
    sa.update(stack)
    .where(stack.c.id == sa.bindparam("stack_id"), stack.c.atomic_key == sa.bindparam("seen_key"))
    .values(atomic_key=stack.c.atomic_key + 1)
)
_WRITE = (
    sa.update(stack)
    .where(stack.c.id == sa.bindparam("stack_id"))
    .values(updated_at=utcnow(), deadline=seconds_ago(sa.bindparam("since_deadline")))
)
_ADD_TEMPLATE = sa.insert(raw_template)


def add(connection: Connection, new: Stack, traversal_id: str, template_id: int, spec: TraversalSpec) -> None:
    """Store a stack whose first traversal is its current one.

    Raises:
        StackExists: the project has a living stack of that name (unique index).
    """
    identity = {
        "id": new.id,
        "name": new.name,
        "live_name": new.name,
        "project_id": new.project_id,
        "user_id": new.user_id,
        "user_name": new.user_name,
        "owner_resource_id": new.owner_resource_id,
        "root_stack_id": new.root_id,
        "nested_depth": new.depth,
        "description": new.description,
        "disable_rollback": new.disable_rollback,
        "atomic_key": 0,
    }
    try:
        connection.execute(_ADD, {**identity, **_begun(traversal_id, template_id, spec)})
    except oslo_db_exception.DBDuplicateEntry:
        raise errors.StackExists(name=new.name) from None


def try_take(connection: Connection, seen: Stack) -> bool:
    """Lock the row of a stack, WHERE id AND atomic_key = as seen; tell whether nobody was faster."""
    return connection.execute(_TAKE, {"stack_id": seen.id, "seen_key": seen.atomic_key}).rowcount == 1


def write(
    connection: Connection,
    stack_id: str,
    traversal_id: str,
    template_id: int,
    spec: TraversalSpec,
    *,
    abandoned: bool,
) -> None:
    """Make a traversal the stack's current one."""
    begun = _begun(traversal_id, template_id, spec)
    connection.execute(_WRITE, {"stack_id": stack_id, "abandoned": abandoned, **begun})


def _begun(traversal_id: str, template_id: int, spec: TraversalSpec) -> dict[str, Any]:
    """Return what the row of a stack says of a traversal that has begun."""
    begun = {
        **spec.settings,
        "raw_template_id": template_id,
        "current_traversal": traversal_id,
        "action": spec.action,
        "status": Status.IN_PROGRESS,
        "status_reason": reason(spec),
        "phase": Phase.UPDATE,
        "since_deadline": -spec.timeout_secs,
    }
    if spec.action not in VISITS:  # of which none wants more resources, or fewer
        begun["size"] = len(spec.targets)
    return begun


def reason(spec: TraversalSpec) -> str:
    """Return what is said of a traversal that has begun."""
    return f"Stack {spec.action} started"


def add_template(connection: Connection, stack_id: str, template: RawTemplate) -> int:
    """Store a template of a stack; return its id."""
    added = connection.execute(
        _ADD_TEMPLATE,
        placed(
            raw_template,
            {
                "uuid": new_id(),
                "stack_id": stack_id,
                "template": template.template,
                "environment": template.environment,
                "files": template.files,
                "outputs": template.outputs,
                "parameters": template.parameters,
            },
        ),
    )
    (template_id,) = added.inserted_primary_key or (0,)
    return int(template_id)


def add_settings(connection: Connection, new: Stack, spec: TraversalSpec) -> None:
    """Write what a new stack has beside its row."""
    _add_tags(connection, new.id, spec.tags or ())
    _look_soon(connection, new.id, spec)
    if spec.sinks:
        sinks.keep(connection, new.id, spec.sinks)


def change_settings(connection: Connection, seen: Stack, spec: TraversalSpec) -> None:
    """Write what changes beside the row of a stack."""
    if spec.tags is not None:
        if seen.tags:
            connection.execute(sa.delete(stack_tag).where(stack_tag.c.stack_id == seen.id))
        _add_tags(connection, seen.id, spec.tags)
    _look_soon(connection, seen.id, spec)
    if spec.sinks is not None:
        sinks.keep(connection, seen.id, spec.sinks)


def _add_tags(connection: Connection, stack_id: str, tags: Sequence[str]) -> None:
    if tags:
        connection.execute(
            sa.insert(stack_tag),
            [
                {"stack_id": stack_id, "tag": tag, "position": position}
                for position, tag in enumerate(dict.fromkeys(tags))
            ],
        )


def _look_soon(connection: Connection, stack_id: str, spec: TraversalSpec) -> None:
    """Have a stack looked at that gets a policy: it may be the first that says so."""
    if spec.settings.get("policy"):
        schedule.ask_for(connection, stack_id, due_in=0)
