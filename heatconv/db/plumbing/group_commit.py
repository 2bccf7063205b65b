# SPDX-License-Identifier: Apache-2.0
"""Group commit: what several threads write at the same time shares one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import Database, writing
from heatconv.grouping import Grouping
from heatconv.metrics.declared import GROUP_SIZE

C = TypeVar("C")
R = TypeVar("R")


def grouped(
    see_to: Callable[[Connection, Sequence[C]], Sequence[R | None]], tree_of: Callable[[C], str]
) -> Callable[[Database, C], R]:
    """Turn the transaction of some calls into ``function(database, call)``.

    Of several calls it may leave some out, with None, that would have to wait for other
    transactions, and has to have written nothing for them; each is then seen to
    alone.  If the transaction fails, nothing of it holds, and each call is seen to alone.
    """
    transaction = writing(see_to)

    def run(database: Database, call: C) -> R:
        known: Grouping[C, R] | None = database.groups.get(run)
        if known is None:
            new: Grouping[C, R] = Grouping(
                partial(transaction, database),
                tree_of,
                database.groups_abreast,
                note_size=GROUP_SIZE.observe,
            )
            known = database.groups.setdefault(run, new)
        return known(call)

    return run
