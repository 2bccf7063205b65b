# SPDX-License-Identifier: Apache-2.0
"""How many resources there are in a tree of stacks, and whether there may be more.

Each stack counts what its template wants, so that a tree is the sum of its
living stacks: an indexed statement that costs as much as there are of those,
and is made only where there is a limit and a stack grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import reading
from heatconv.db.tables import stack
from heatconv.model.bounds import check_resources
from heatconv.model.records import Stack
from heatconv.model.states import Action, Status


@dataclass(frozen=True, kw_only=True)
class TreeQuota:
    """How many resources there may be in a tree of stacks."""

    limit: int = -1  #: any number if negative
    inside: int = 0  #: how many there will be in the stacks below the one that grows, as far as is known

    def check(self, resources: int) -> None:
        """Refuse so many resources if there must not be as many.

        Raises:
            RequestLimitExceeded: it is too many.
        """
        if self.limit >= 0:
            check_resources(resources, self.limit)


@reading
def check(connection: Connection, grown: Stack, size: int, quota: TreeQuota) -> None:
    """Refuse so many resources in a stack if that is too many for the tree it is in by now; see ``take``."""
    if _grows(grown, size, quota):
        _check(connection, grown, size, quota)


def take(connection: Connection, grown: Stack, size: int, quota: TreeQuota, *, owned: bool) -> None:
    """Refuse so many resources in a stack if that is too many for its tree; first part of a transaction.

    It may have as many as it has now, and what the rollback of the tree has its
    nested stacks be may come back, whatever the limit is by now.

    Args:
        owned: whether it is the stack around it that has it grow, and no user.

    Raises:
        RequestLimitExceeded: it is too many.

    Concurrency: locks the row of the root, and before any other, as do those
    who change the root: of two stacks that grow, one counts the other.
    """
    if not _grows(grown, size, quota):
        return
    root = sa.select(stack.c.action, stack.c.status).where(stack.c.id == grown.root_id)
    found = connection.execute(root.with_for_update()).one_or_none()
    if owned and found == (Action.ROLLBACK, Status.IN_PROGRESS):
        return
    _check(connection, grown, size, quota)


def _grows(grown: Stack, size: int, quota: TreeQuota) -> bool:
    return quota.limit >= 0 and (size > grown.size or size + quota.inside > quota.limit)


def _check(connection: Connection, grown: Stack, size: int, quota: TreeQuota) -> None:
    others = (
        stack.c.root_stack_id == grown.root_id,
        stack.c.deleted_at.is_(None),
        stack.c.id != grown.id,
    )
    around = int(connection.scalar(sa.select(sa.func.sum(stack.c.size)).where(*others)) or 0)
    if size > grown.size or quota.inside > around:
        quota.check(size + max(around, quota.inside))
