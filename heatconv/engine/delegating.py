# SPDX-License-Identifier: Apache-2.0
"""What users delegate, so that workers can act for their stacks: had, renewed, given back.

A root stack has one delegation, which those nested in it share.  Whoever dies in the middle has
left a row that is due some time (``heatconv.db.convergence.delegations``): every engine looks for those.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from heatconv import errors
from heatconv.db.convergence import delegations
from heatconv.db.plumbing.session import Database
from heatconv.model.delegation import Delegation
from heatconv.model.ids import new_id
from heatconv.model.records import Stack
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

BATCH = 20  #: how many are given back in one tick: each takes some calls


class Authority(Protocol):
    """Who vouches for users: Keystone."""

    def intended(self, delegation_id: str, stack: Stack, user_id: str) -> Delegation:
        """Return the delegation to be made for a user's stack; nothing is made yet."""

    def make(self, intended: Delegation, roles: Sequence[str]) -> Delegation:
        """Make it, with the rights of the request that this thread serves, and return it as it is then.

        Args:
            intended: what is to be made.
            roles: the names of those that the request comes with.

        Raises:
            Forbidden: this user, or this token, cannot delegate that.
            TransportError: nobody knows whether it was made.
        """

    def works(self, delegation: Delegation) -> bool:
        """Tell whether a delegation still opens anything; yes, if that cannot be found out now."""

    def give_back(self, delegation: Delegation) -> bool:
        """Undo a delegation, if it was made; return whether nothing is left; False if it cannot be for now.

        Raises:
            TransportError: that cannot be done now.
        """


class Delegating:
    """Has users delegate what their stacks need."""

    def __init__(self, database: Database, authority: Authority | None) -> None:
        """Keep what is handed in; without an authority nobody delegates anything."""
        self._database = database
        self._authority = authority

    @contextmanager
    def to_new(self, context: RequestContext, stack: Stack) -> Iterator[Callable[[], str | None]]:
        """Give what has the user who asks delegate what a new stack needs, and returns its id.

        It is None of a nested stack, or if nobody delegates anything.  If there is to be no
        stack after all, it is given back.
        """
        had: list[str] = []

        def have() -> str | None:
            if self._authority is None or stack.owner_resource_id is not None:
                return None
            had.append(self._have(self._authority, context, stack))
            return had[0]

        try:
            yield have
        except errors.UserError:
            for delegation_id in had:
                delegations.give_up(self._database, delegation_id)
            raise

    def renew(self, context: RequestContext, stack: Stack) -> None:
        """Have the user who asks delegate what a root stack needs, if what it has is worth nothing any more.

        Raises:
            Forbidden: this user, or this token, cannot delegate that.
            TransportError: it was not made, or nobody knows.
        """
        if self._authority is None or stack.owner_resource_id is not None or context.token is None:
            return
        now = delegations.of(self._database, stack.id)
        if now is not None and self._authority.works(now):
            return
        renewed = self._have(self._authority, context, stack)
        delegations.replace(self._database, stack.id, renewed)
        LOG.info("stack %s: user %s has renewed what it acts by", stack.id, context.user_id)

    def tick(self) -> None:
        """Give back the delegations that are due."""
        if self._authority is None:
            return
        for due in delegations.take_due(self._database, BATCH):
            try:
                gone = self._authority.give_back(due)
            except errors.TransportError as error:
                LOG.warning("stack %s: what it acted by is given back later: %s", due.stack_id, error)
                continue
            if gone:
                delegations.forget(self._database, due.id)
                LOG.info("stack %s: what it acted by is given back", due.stack_id)
            else:
                delegations.postpone(self._database, due.id)
                LOG.warning(
                    "stack %s: what user %s has delegated cannot be given back while the user has no role in "
                    "project %s; it opens nothing until then",
                    due.stack_id,
                    due.user_id,
                    due.project_id,
                )

    def _have(self, authority: Authority, context: RequestContext, stack: Stack) -> str:
        """Have the user who asks delegate what a root stack needs; return its id.

        It is due in some minutes, unless a stack has it by then.

        Raises:
            Forbidden: this user, or this token, cannot delegate that.
            TransportError: it was not made, or nobody knows.
        """
        if context.token is None or context.user_id is None:
            raise errors.Forbidden(
                f"Stack {stack.name} is to act for a user of project {stack.project_id}: "
                "send a token of such a user that is scoped to that project."
            )
        intended = authority.intended(new_id(), stack, context.user_id)
        delegations.intend(self._database, intended)
        try:
            made = authority.make(intended, context.roles)
        except errors.Forbidden:
            delegations.forget(self._database, intended.id)
            raise
        if not delegations.try_record(self._database, made):
            authority.give_back(made)
            raise errors.TransportError(reason="what your token delegates came too late: try again")
        return made.id
