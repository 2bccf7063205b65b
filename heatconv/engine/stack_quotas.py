# SPDX-License-Identifier: Apache-2.0
"""How many stacks a project may have, and how large and how deep a tree of them may be.

Here it is refused before any work goes into it.  What counts in the end is the transaction that
begins the traversal (``heatconv.db.convergence.traversals``).
"""

from __future__ import annotations

from dataclasses import replace

from heatconv import errors
from heatconv.db.convergence import stacks, tree_quota
from heatconv.db.convergence.tree_quota import TreeQuota
from heatconv.db.plumbing.session import Database
from heatconv.engine.source import Wanted
from heatconv.model.records import Stack, changed


class StackQuotas:
    """What the operator has set; whatever a ``check_*`` refuses, it raises RequestLimitExceeded."""

    def __init__(
        self, database: Database, *, max_stacks: int = -1, max_resources: int = -1, max_depth: int = 5
    ) -> None:
        """Keep what is handed in; a negative number of stacks or resources is any number."""
        self.max_stacks = max_stacks
        self._database = database
        self._max_depth = max_depth
        self._tree_quota = TreeQuota(limit=max_resources)

    def tree_quota(self, wanted: Wanted) -> TreeQuota:
        """Return the quota of a tree in which a stack is to be as wanted."""
        return replace(self._tree_quota, inside=wanted.inside)

    def check_project(self, stack: Stack) -> None:
        """Refuse a root stack if its project has as many others as it may."""
        if self.max_stacks >= 0:
            stacks.check_quota(self._database, stack.project_id, stack.id, self.max_stacks)

    def check_depth(self, depth: int) -> None:
        """Refuse a stack that is nested so deep, if it is deeper than may be."""
        if depth > self._max_depth:
            raise errors.RequestLimitExceeded(f"Recursion depth exceeds {self._max_depth}.")

    def placed(self, stack: Stack, place: tuple[str, int]) -> Stack:
        """Return a stack as it is nested in a tree, by its root and so deep, unless it must not be."""
        root_id, depth = place
        self.check_depth(depth)
        placed: Stack = changed(stack, root_id=root_id, depth=depth)
        return placed

    def check_size(self, resources: int) -> None:
        """Refuse a tree of so many resources if there must not be as many."""
        self._tree_quota.check(resources)

    def check_grown(self, stack: Stack, size: int) -> None:
        """Refuse so many resources in a stack if that is too many for the tree that it is in."""
        self._check_in_tree(stack, size, self._tree_quota)

    def check_fits(self, stack: Stack, wanted: Wanted) -> None:
        """Refuse what is wanted of a stack if that is too many resources for the tree that it is in."""
        self._check_in_tree(stack, len(wanted.targets), self.tree_quota(wanted))

    def _check_in_tree(self, stack: Stack, size: int, quota: TreeQuota) -> None:
        if quota.limit >= 0:  # or there is nothing to ask the database
            tree_quota.check(self._database, stack, size, quota)
