# SPDX-License-Identifier: Apache-2.0
"""How traversals end that have nothing left to do: COMPLETE, those of several stacks in one go.

Part of the transactions of ``traversal_ends``, which have locked the stacks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence import delegations, snapshots, sync_points
from heatconv.db.delivery.events import add_events, stack_event
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.together import Together
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import raw_template, resource, stack
from heatconv.model.outcomes import Owner
from heatconv.model.states import VISITS, Action, Phase, Status

#: A stack's first traversal.
_FIRST = frozenset({Action.CREATE, Action.ADOPT})

#: The actions that make nothing of a template.
APPLY_NOTHING = VISITS | {Action.DELETE}

#: The template that a rollback of a locked stack applies, now that nothing is left to be made.
APPLIED = sa.case(
    (stack.c.action.in_(sorted(APPLY_NOTHING)), stack.c.prev_raw_template_id), else_=stack.c.raw_template_id
)

_is_gone = stack.c.action == Action.DELETE
#: By a list of ids: of rows that are given as a table MariaDB may look at every stack, and lock it.
_END = Prepared(
    sa.update(stack)
    .where(stack.c.id.in_(sa.bindparam("ended", expanding=True)))
    .values(
        status=sa.bindparam("status"),
        status_reason=sa.bindparam("status_reason"),
        phase=Phase.DONE,
        deadline=sa.null(),
        prev_raw_template_id=APPLIED,
        deleted_at=sa.case((_is_gone, utcnow()), else_=stack.c.deleted_at),
        live_name=sa.case((_is_gone, sa.null()), else_=stack.c.live_name),
        atomic_key=stack.c.atomic_key + 1,
    )
)
_DROP_OTHERS = Prepared(
    sa.delete(raw_template).where(
        raw_template.c.stack_id.in_(sa.bindparam("of_templates", expanding=True)),
        raw_template.c.id.not_in(sa.bindparam("kept", expanding=True)),
    )
)


class Completed(NamedTuple):
    """A locked stack whose traversal has nothing left to do, and what is to be said of that."""

    stack: sa.Row[Any]
    status: Status
    reason: str


def complete(
    connection: Connection, ended: Sequence[Completed], *, last: bool = False
) -> Mapping[str, Owner]:
    """End the traversals of locked stacks, and drop what only these needed; return whom to tell, by stack.

    ``last``: nothing comes after that in the transaction.
    """
    if not ended:
        return {}
    stacks = [each.stack for each in ended]
    owners = owners_of(connection, stacks)
    writes = Together(connection)
    alike: dict[tuple[Status, str], list[str]] = defaultdict(list)
    for row, status, reason in ended:
        alike[status, reason].append(row.id)
    for (status, reason), ids in alike.items():
        writes.execute(_END, {"ended": ids, "status": status, "status_reason": reason})
    add_events(
        writes,
        [
            stack_event(
                stack_id=row.id, name=row.name, action=Action(row.action), status=status, reason=reason
            )
            for row, status, reason in ended
        ],
    )
    sync_points.forget(writes, *(row.id for row in stacks))
    for row in stacks:
        if row.action == Action.DELETE and row.owner_resource_id is None:
            delegations.release(writes, row.id)
    # At first there is one template; those that a visit finds are kept for another reason.
    changed = [row for row in stacks if Action(row.action) not in VISITS | _FIRST]
    if changed:
        kept = {"of_templates": [row.id for row in changed], "kept": [row.raw_template_id for row in changed]}
        writes.execute(_DROP_OTHERS, kept)
    filled = [row for row in stacks if row.action == Action.SNAPSHOT]
    writes.send(last=last and not filled)
    for row in filled:
        snapshots.fill(connection, row.current_traversal, row.id)
    return owners


def owners_of(connection: Connection, stacks: Sequence[sa.Row[Any]]) -> Mapping[str, Owner]:
    """Return the rows that own locked stacks, by the stack, as far as workers hold those rows."""
    owned = {each.owner_resource_id: each.id for each in stacks if each.owner_resource_id is not None}
    if not owned:
        return {}
    held = sa.select(resource.c.id, resource.c.engine_id).where(
        resource.c.id.in_(list(owned)), resource.c.engine_id.is_not(None)
    )
    return {owned[row.id]: Owner(row.id, row.engine_id) for row in connection.execute(held)}
