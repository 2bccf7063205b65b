# SPDX-License-Identifier: Apache-2.0
"""Group commit: what several threads write at the same time shares one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import Database, writing
from heatconv.grouping import Grouping
from heatconv.metrics.declared import GROUP_SIZE

C = TypeVar("C")
R = TypeVar("R")


class Grouped(Generic[C, R]):
    """The transaction of some calls, which those share who call at the same time.

    Of several calls it may leave some out, with None, that would have to wait for other
    transactions, and has to have written nothing for them; each is then seen to
    alone.  If the transaction fails, nothing of it holds, and each call is seen to alone.
    """

    def __init__(
        self, see_to: Callable[[Connection, Sequence[C]], Sequence[R | None]], tree_of: Callable[[C], str]
    ) -> None:
        """Keep the transaction, and what tells which tree of stacks a call is about."""
        self._transaction = writing(see_to)
        self._tree_of = tree_of

    def __call__(self, database: Database, call: C) -> R:
        """Return what came of a call."""
        return self._of(database)(call)

    def each(self, database: Database, calls: Sequence[C]) -> list[R | Exception]:
        """Return what came of some calls of one thread's; see ``Grouping.each``."""
        return self._of(database).each(calls)

    def _of(self, database: Database) -> Grouping[C, R]:
        known: Grouping[C, R] | None = database.groups.get(self)
        if known is None:
            new: Grouping[C, R] = Grouping(
                partial(self._transaction, database),
                self._tree_of,
                database.groups_abreast,
                note_size=GROUP_SIZE.observe,
            )
            known = database.groups.setdefault(self, new)
        return known
