# SPDX-License-Identifier: Apache-2.0
"""Shared reads: what several threads look up at the same time is looked up by one statement.

Most of what it costs to look one row up is the transaction around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import Database, reading
from heatconv.grouping import Grouping
from heatconv.metrics.declared import GROUP_SIZE

V = TypeVar("V")


def shared(
    look_up: Callable[[Connection, Sequence[str]], Mapping[str, V]],
) -> Callable[[Database, str], V | None]:
    """Turn the look-up of some ids into ``function(database, id)``; None is what is not there.

    What it returns was read after it was asked for.
    """

    @reading
    def see_to(connection: Connection, ids: Sequence[str]) -> list[tuple[V | None]]:
        found = look_up(connection, list(dict.fromkeys(ids)))
        return [(found.get(each),) for each in ids]

    def run(database: Database, id_: str) -> V | None:
        known: Grouping[str, tuple[V | None]] | None = database.groups.get(run)
        if known is None:
            # All trees count for one: a group of reads is over in no time.
            new = Grouping(
                partial(see_to, database),
                lambda _id: "",
                database.groups_abreast,
                note_size=GROUP_SIZE.observe,
            )
            known = database.groups.setdefault(run, new)
        (value,) = known(id_)
        return value

    return run
