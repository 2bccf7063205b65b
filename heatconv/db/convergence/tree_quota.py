# SPDX-License-Identifier: Apache-2.0
"""How many resources there are in a tree of stacks, and whether there may be more.

Each stack counts what its template wants, so that a tree is the sum of its
living stacks: an indexed statement that costs as much as there are of those,
and is made only where there is a limit and a stack grows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


class Growing(NamedTuple):
    """A stack that is to have so many resources."""

    stack: Stack
    size: int
    quota: TreeQuota


@reading
def check(connection: Connection, grown: Stack, size: int, quota: TreeQuota) -> None:
    """Refuse so many resources in a stack if that is too many for the tree it is in by now; see ``take``."""
    growing = Growing(grown, size, quota)
    if _grows(growing):
        _check(connection, grown.root_id, [growing])


def take(connection: Connection, growing: Sequence[Growing], *, owned: bool) -> None:
    """Refuse so many resources in stacks if that is too many for their trees; first part of a transaction.

    A stack may have as many as it has now, and what the rollback of the tree has its
    nested stacks be may come back, whatever the limit is by now.

    Args:
        growing: one that is there, or some that are stored next.
        owned: whether it is the stacks around them that have them grow, and no user.

    Raises:
        RequestLimitExceeded: it is too many.

    Concurrency: locks the rows of the roots in their order, and before any other, as do those
    who change a root: of two stacks that grow, one counts the other.
    """
    by_root: dict[str, list[Growing]] = defaultdict(list)
    for each in growing:
        if _grows(each):
            by_root[each.stack.root_id].append(each)
    for root_id in sorted(by_root):
        root = sa.select(stack.c.action, stack.c.status).where(stack.c.id == root_id)
        found = connection.execute(root.with_for_update()).one_or_none()
        if not owned or found != (Action.ROLLBACK, Status.IN_PROGRESS):
            _check(connection, root_id, by_root[root_id])


def _grows(growing: Growing) -> bool:
    grown, size, quota = growing
    return quota.limit >= 0 and (size > grown.size or size + quota.inside > quota.limit)


def _check(connection: Connection, root_id: str, growing: Sequence[Growing]) -> None:
    others = (
        stack.c.root_stack_id == root_id,
        stack.c.deleted_at.is_(None),
        stack.c.id.not_in([each.stack.id for each in growing]),
    )
    around = int(connection.scalar(sa.select(sa.func.sum(stack.c.size)).where(*others)) or 0)
    for grown, size, quota in growing:
        if size > grown.size or quota.inside > around:
            quota.check(size + max(around, quota.inside))
        around += size
