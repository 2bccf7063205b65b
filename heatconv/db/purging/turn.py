# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is to purge: one engine's, for as long as its lease lasts.

That engines take turns spares the database work.  What they drop does not hang on it: one that goes on
beyond its lease finds gone what the next one has dropped.
"""

from __future__ import annotations

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import Undo, writing
from heatconv.db.plumbing.types import in_seconds, is_past
from heatconv.db.tables import purge_turn
from heatconv.model.ids import new_id

ONLY = "purge"  #: the key of the one row there is


@writing
def try_take(connection: Connection, *, lease: float) -> str | None:
    """Take the turn, WHERE it is due; return the claim on it, or None. It is due again after the lease."""
    claim = new_id()
    values = {"claim": claim, "due_at": in_seconds(lease)}
    due = sa.update(purge_turn).where(purge_turn.c.id == ONLY, is_past(purge_turn.c.due_at))
    if connection.execute(due.values(values)).rowcount == 1:
        return claim
    if connection.scalar(sa.select(purge_turn.c.id).where(purge_turn.c.id == ONLY)) is not None:
        return None
    try:
        connection.execute(sa.insert(purge_turn).values(id=ONLY, **values))
    except oslo_db_exception.DBDuplicateEntry:  # another engine was faster
        raise Undo(None) from None
    return claim


@writing
def try_keep(connection: Connection, claim: str, *, seconds: float) -> bool:
    """Have the turn be due again in some seconds, WHERE the claim still is as taken."""
    mine = sa.update(purge_turn).where(purge_turn.c.id == ONLY, purge_turn.c.claim == claim)
    return connection.execute(mine.values(due_at=in_seconds(seconds))).rowcount == 1


@writing
def try_end(connection: Connection, claim: str, *, again_in: float) -> bool:
    """End the turn, WHERE the claim still is as taken: the next one is due in some seconds."""
    mine = sa.update(purge_turn).where(purge_turn.c.id == ONLY, purge_turn.c.claim == claim)
    return connection.execute(mine.values(due_at=in_seconds(again_in), claim=None)).rowcount == 1
