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

from heatconv import errors
from heatconv.db.session import reading
from heatconv.db.tables import stack
from heatconv.model.records import Stack
from heatconv.model.states import Action


@dataclass(frozen=True, kw_only=True)
class Room:
    """How many resources there may be in a tree of stacks."""

    limit: int
    inside: int = 0  #: how many there will be in the stacks below the one that grows, as far as is known

    def check(self, resources: int) -> None:
        """Refuse so many resources if there must not be as many.

        Raises:
            RequestLimitExceeded: it is too many.
        """
        if resources > self.limit:
            raise errors.RequestLimitExceeded(
                f"Maximum resources per stack exceeded: there would be {resources},"
                f" and {self.limit} are allowed."
            )


@reading
def check(connection: Connection, grown: Stack, size: int, room: Room) -> None:
    """Refuse so many resources in a stack if that is too many for the tree it is in by now; see ``take``."""
    _check(connection, grown, size, room, locked=False)


def take(connection: Connection, grown: Stack, size: int, room: Room) -> None:
    """Refuse so many resources in a stack if that is too many for its tree; first part of a transaction.

    It may have as many as it has now, and what is undone in the tree may come
    back, whatever the limit is by now.

    Raises:
        RequestLimitExceeded: it is too many.

    Concurrency: locks the row of the root, and before any other, as do those
    who change the root: of two stacks that grow, one counts the other.
    """
    _check(connection, grown, size, room, locked=True)


def _check(connection: Connection, grown: Stack, size: int, room: Room, *, locked: bool) -> None:
    if size <= grown.size and size + room.inside <= room.limit:
        return
    root = sa.select(stack.c.action).where(stack.c.id == grown.root_id)
    if connection.scalar(root.with_for_update() if locked else root) == Action.ROLLBACK:
        return
    others = (
        stack.c.root_stack_id == grown.root_id,
        stack.c.deleted_at.is_(None),
        stack.c.id != grown.id,
    )
    around = connection.scalar(sa.select(sa.func.sum(stack.c.size)).where(*others))
    room.check(size + max(int(around or 0), room.inside))
