# SPDX-License-Identifier: Apache-2.0
"""What a kind of traversal adds to how it begins; ``traversals`` has the steps that all kinds share.

The hooks of a kind are called in the transaction that begins the traversal, in the order in which
``Kind`` has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db import plans
from heatconv.db.convergence import row_locks, snapshots, tree_quota
from heatconv.db.convergence.tree_quota import Growing, TreeQuota
from heatconv.db.observation import healing
from heatconv.model.plan import Plan
from heatconv.model.records import Extant, Held, ResourceRow, Snapshot, Stack
from heatconv.model.states import Action, DeletionPolicy


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A traversal that adds nothing, such as a deletion, a rollback or a suspension."""

    abandons: ClassVar[bool] = False  #: what the stack's resources stand for stays, and is nobody's
    plan_id: str | None = None  #: the plan that is applied by it

    def admit(self, connection: Connection, grown: Stack, size: int) -> None:
        """Refuse the traversal, if the stack must not get ``size`` resources by it.

        Concurrency: nothing is locked yet, and the stack's row is locked next.
        """

    def note(self, connection: Connection, stack_id: str, traversal_id: str) -> None:
        """Write down what the traversal is for.

        Concurrency: the stack's row is locked, and none of its resources' rows is.

        Raises:
            Conflict: the plan that is applied was applied already, or has ended.
        """
        if self.plan_id is not None:
            plans.take(connection, self.plan_id)

    def as_seen(self, extant: list[Extant]) -> list[Extant]:
        """Return the rows of the stack as the plan has to see them."""
        return extant

    def policies(self, extant: Sequence[Extant], planned: Plan) -> Mapping[str, DeletionPolicy]:
        """Return the deletion policies that rows get which the plan desires nothing of, by their ids."""
        return planned.policies

    def snapshot(self, connection: Connection, traversal_id: str) -> Snapshot | None:
        """Return the snapshot that the traversal takes, once the traversal has begun."""
        return None


PLAIN = Kind()


@dataclass(frozen=True, kw_only=True)
class Growth(Kind):
    """The update or the restoration of a stack, which may want more resources by it."""

    quota: TreeQuota

    def admit(self, connection: Connection, grown: Stack, size: int) -> None:
        """Refuse what is too much for the tree.

        Raises:
            RequestLimitExceeded: there would be too many resources in the tree.
        """
        tree_quota.take(connection, [Growing(grown, size, self.quota)], owned=False)


@dataclass(frozen=True, kw_only=True)
class NestedGrowth(Kind):
    """The creation or the update of a nested stack, on behalf of the row that owns it."""

    quota: TreeQuota
    owner: Held

    def admit(self, connection: Connection, grown: Stack, size: int) -> None:
        """Refuse what is too much for the tree, and whoever has lost the owner.

        Raises:
            RequestLimitExceeded: there would be too many resources in the tree.
            ResourceLocked: the claim on the owner does not count any more.
        """
        tree_quota.take(connection, [Growing(grown, size, self.quota)], owned=True)
        # Whoever asks may be late: the claim is held on to until the transaction ends.
        if row_locks.hold(connection, self.owner) is None:
            raise errors.ResourceLocked(name=self.owner.id)


@dataclass(frozen=True, kw_only=True)
class Abandonment(Kind):
    """A deletion that leaves what the stack's resources stand for as it is."""

    abandons: ClassVar[bool] = True

    def policies(self, extant: Sequence[Extant], planned: Plan) -> Mapping[str, DeletionPolicy]:
        """Let go of what is being deleted already, as well."""
        return {row.id: DeletionPolicy.ABANDON for row in extant if row.action is Action.DELETE}


@dataclass(frozen=True, kw_only=True)
class TakingSnapshot(Kind):
    """A visit of every resource that takes a snapshot of the stack."""

    name: str | None
    limit: int  #: how many snapshots the stack may have then; any number if negative

    def note(self, connection: Connection, stack_id: str, traversal_id: str) -> None:
        """Store the snapshot, which has the traversal's id.

        Raises:
            RequestLimitExceeded: the stack has as many snapshots as it may.
        """
        snapshots.begin(connection, traversal_id, stack_id, self.name, limit=self.limit)

    def snapshot(self, connection: Connection, traversal_id: str) -> Snapshot | None:
        """Return the snapshot, which has ended already if the stack has no resources."""
        return snapshots.get(connection, traversal_id)


@dataclass(frozen=True, kw_only=True)
class PartialConvergence(Kind):
    """A traversal by which a user has some of the resources converged that have drifted."""

    names: frozenset[str]

    def as_seen(self, extant: list[Extant]) -> list[Extant]:
        """Let the drift of these resources count, and that of no other."""
        return [row._replace(drifted=row.drifted and row.name in self.names) for row in extant]


@dataclass(frozen=True, kw_only=True)
class SelfHealing(Kind):
    """A traversal that no user has asked for: the observer heals what has drifted."""

    healed: Sequence[ResourceRow]  #: rows of the stack's whole tree

    def note(self, connection: Connection, stack_id: str, traversal_id: str) -> None:
        """Count how often each is healed, and remember that the traversal is no user's."""
        healing.note_begun(connection, stack_id, traversal_id, self.healed)


@dataclass(frozen=True, kw_only=True)
class Creation:
    """What the creation of a root stack adds: it is no ``Kind``, for there is nothing that it begins on."""

    quota: TreeQuota
    max_stacks: int  #: how many the project may have then; any number if negative
    delegation: str | None  #: by what right daemons act for the stack
    plan_id: str | None = None  #: the plan that is applied by it
