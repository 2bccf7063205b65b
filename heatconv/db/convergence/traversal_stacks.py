# SPDX-License-Identifier: Apache-2.0
"""The stacks that traversals begin with: rows, templates, and what their settings say elsewhere."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.delivery import sinks
from heatconv.db.observation import schedule
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.together import Writer
from heatconv.db.plumbing.types import seconds_ago, utcnow
from heatconv.db.tables import raw_template, stack, stack_tag
from heatconv.model.ids import new_id
from heatconv.model.plan import Plan, TraversalSpec
from heatconv.model.records import RawTemplate, Stack
from heatconv.model.states import VISITS, Action, Phase, Status

# The statements are built once: to build one takes as long as to have it carried out.


@functools.cache
def _writing(columns: frozenset[str]) -> Prepared:
    return Prepared(
        sa.update(stack)
        .where(stack.c.id == sa.bindparam("stack_id"), stack.c.atomic_key == sa.bindparam("seen_key"))
        .values(
            **{column: sa.bindparam(column) for column in sorted(columns)},
            atomic_key=stack.c.atomic_key + 1,
            updated_at=utcnow(),
            deadline=seconds_ago(sa.bindparam("since_deadline", type_=sa.Integer)),
        )
    )


_ADD_TEMPLATE = sa.insert(raw_template)


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """A traversal that begins: of which stack, what it is to make of it, and how."""

    stack: Stack
    spec: TraversalSpec
    planned: Plan
    traversal_id: str = field(default_factory=new_id)


def add(connection: Connection, beginning: Sequence[Beginning], writer: Writer) -> None:
    """Store stacks whose first traversals begin, with their templates and what they have beside their rows.

    The rows themselves are left with ``writer``; the unique index refuses those whose names are taken.
    """
    template_ids = _add_templates(connection, beginning)
    by_timeout: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for each in beginning:
        by_timeout[each.spec.timeout_secs].append(_new_row(each, template_ids[each.stack.id]))
    for timeout_secs, rows in by_timeout.items():
        _ADD.execute(writer, rows, {"overdue_for": -timeout_secs})
    for each in beginning:
        _add_tags(connection, each.stack.id, each.spec.tags or ())
        _look_soon(connection, each.stack.id, each.spec)
        if each.spec.sinks:
            sinks.keep(connection, each.stack.id, each.spec.sinks)


def _new_row(begun: Beginning, template_id: int) -> dict[str, Any]:
    new, spec = begun.stack, begun.spec
    return {
        "id": new.id,
        "name": new.name,
        "live_name": new.name,
        "project_id": new.project_id,
        "user_id": new.user_id,
        "user_name": new.user_name,
        "changed_by": spec.changed_by,
        "owner_resource_id": new.owner_resource_id,
        "root_stack_id": new.root_id,
        "nested_depth": new.depth,
        "size": len(spec.targets),
        "description": new.description,
        "raw_template_id": template_id,
        "current_traversal": begun.traversal_id,
        "action": spec.action,
        "status_reason": reason(spec),
        "disable_rollback": new.disable_rollback,
        "timeout_mins": None,
        "policy": None,
        "guarded": False,
        **spec.settings,
    }


_NEW_ROW = (
    "id",
    "name",
    "live_name",
    "project_id",
    "user_id",
    "user_name",
    "changed_by",
    "owner_resource_id",
    "root_stack_id",
    "nested_depth",
    "size",
    "description",
    "raw_template_id",
    "current_traversal",
    "action",
    "status_reason",
    "disable_rollback",
    "timeout_mins",
    "policy",
    "guarded",
)


_ADD = bulk.Insert(
    stack,
    _NEW_ROW,
    same={
        "status": sa.literal(Status.IN_PROGRESS, stack.c.status.type),
        "phase": sa.literal(Phase.UPDATE, stack.c.phase.type),
        "atomic_key": sa.literal(0, stack.c.atomic_key.type),
        "deadline": seconds_ago(sa.bindparam("overdue_for", type_=sa.Float)),
        "created_at": utcnow(),
    },
)
_ADD_TEMPLATES = bulk.Insert(
    raw_template, ["uuid", "stack_id", "template", "environment", "files", "outputs", "parameters"]
)
_TEMPLATES_OF = Prepared(
    sa.select(raw_template.c.stack_id, raw_template.c.id).where(
        raw_template.c.stack_id.in_(sa.bindparam("new_stacks", expanding=True))
    )
)


def _add_templates(connection: Connection, beginning: Sequence[Beginning]) -> dict[str, int]:
    """Store the templates of new stacks; return their ids by the stack."""
    added = [
        (each.stack.id, each.spec.template)
        for each in beginning
        if isinstance(each.spec.template, RawTemplate)
    ]
    if len(added) == 1:  # the database says the id of one that it adds
        return {stack_id: add_template(connection, stack_id, template) for stack_id, template in added}
    _ADD_TEMPLATES.execute(connection, [_template_row(*each) for each in added])
    found = connection.execute(_TEMPLATES_OF, {"new_stacks": [stack_id for stack_id, _ in added]})
    return {row.stack_id: row.id for row in found}


def try_write(
    connection: Connection,
    seen: Stack,
    traversal_id: str,
    template_id: int,
    spec: TraversalSpec,
    *,
    abandoned: bool,
) -> bool:
    """Make a traversal the stack's current one; tell whether nobody was faster.

    Concurrency: locks the stack's row, WHERE id AND atomic_key = as seen.
    """
    begun = {
        **spec.settings,
        "raw_template_id": template_id,
        "current_traversal": traversal_id,
        "changed_by": spec.changed_by,
        "action": spec.action,
        "status": Status.IN_PROGRESS,
        "status_reason": reason(spec),
        "phase": Phase.GC if spec.action is Action.DELETE else Phase.UPDATE,
        "abandoned": abandoned,
    }
    if spec.action not in VISITS:  # of which none wants more resources, or fewer
        begun["size"] = len(spec.targets)
    key = {"stack_id": seen.id, "seen_key": seen.atomic_key, "since_deadline": -spec.timeout_secs}
    return connection.execute(_writing(frozenset(begun)), {**key, **begun}).rowcount == 1


def reason(spec: TraversalSpec) -> str:
    """Return what is said of a traversal that has begun."""
    return f"Stack {spec.action} started"


def add_template(connection: Connection, stack_id: str, template: RawTemplate) -> int:
    """Store a template of a stack; return its id."""
    added = connection.execute(_ADD_TEMPLATE, placed(raw_template, _template_row(stack_id, template)))
    (template_id,) = added.inserted_primary_key or (0,)
    return int(template_id)


def _template_row(stack_id: str, template: RawTemplate) -> dict[str, Any]:
    return {
        "uuid": new_id(),
        "stack_id": stack_id,
        "template": template.template,
        "environment": template.environment,
        "files": template.files,
        "outputs": template.outputs,
        "parameters": template.parameters,
    }


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
