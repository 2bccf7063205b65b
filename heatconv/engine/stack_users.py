# SPDX-License-Identifier: Apache-2.0
"""What a stack user may reach: the resource that it was made for, and nothing else.

Whose user somebody is, the service has noted when it made the user; Keystone says
who somebody is.  Nothing else that a request, a template or adopted data says counts.
"""

from __future__ import annotations

from heatconv.db.convergence import resources, stacks
from heatconv.db.plumbing.session import Database
from heatconv.model.records import ResourceRow, Stack
from heatconv.resources.stack_users import ROLE, Account
from heatconv.rpc.context import RequestContext


def own_resource(
    database: Database, context: RequestContext, stack_id: str, name: str
) -> tuple[Stack, ResourceRow] | None:
    """Return the resource whose stack user asks, with its stack; None if it is no such user's.

    Args:
        database: where the notes are.
        context: who asks.
        stack_id: of the stack that the resource is said to be in.
        name: of the resource in its template, whichever incarnation the user is of; or the id of its row.
    """
    if context.user_id is None or ROLE not in context.roles:
        return None
    asking = Account(context.user_id, context.project_id)
    by_id = resources.find(database, name)
    rows = [by_id] if by_id is not None else resources.list_resources(database, stack_id, [name])
    for row in rows:
        if row.stack_id == stack_id and Account.of(row.data) == asking:
            stack = stacks.get(database, stack_id)
            return None if stack is None or stack.deleted_at is not None else (stack, row)
    return None
