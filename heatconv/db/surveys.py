# SPDX-License-Identifier: Apache-2.0
"""How much there is to do and how late it is, in one statement that costs the same however much there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence.services import alive
from heatconv.db.plumbing.session import reading
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import resource, service, stack, stack_observed, sync_point
from heatconv.model.states import Status, SyncState

TRAVERSALS = 1_000  #: under way that are looked at, those nearest to their deadlines
ACTIONS = 5_000  #: under way that are looked at, whichever
NODES = 5_000  #: READY that are looked at, those that are so for longest


@dataclass(frozen=True, kw_only=True)
class Survey:
    """How long the oldest of each kind has been there, in seconds; 0: there is none."""

    ready: float  #: of the nodes that are READY, or were rung for again, and are in no worker's hands
    traversal: float
    action: float
    observation: float  #: of the stacks that are due to be observed
    daemons: Mapping[tuple[str, bool], int]  #: how many there are, by binary and whether they are alive
    backlog: int  #: nodes that wait in the workers that are alive


_UNDER_WAY = (
    sa.select(sa.func.coalesce(stack.c.updated_at, stack.c.created_at).label("since"))
    .where(stack.c.status == Status.IN_PROGRESS)
    .order_by(stack.c.phase, stack.c.deadline)
    .limit(TRAVERSALS)
    .subquery()
)
_READY = (
    sa.select(sync_point.c.ready_at, sync_point.c.acts_on)
    .where(sync_point.c.state == SyncState.READY)
    .order_by(sync_point.c.ready_at)
    .limit(NODES)
    .subquery()
)
# A node is READY until it is DONE.  A value, not a join: rows are looked up by their keys, up to the first.
_HOLDER = sa.select(resource.c.engine_id).where(resource.c.id == _READY.c.acts_on).scalar_subquery()
_ACTED_ON = (
    sa.select(sa.func.coalesce(resource.c.updated_at, resource.c.created_at).label("since"))
    .where(resource.c.engine_id.is_not(None), resource.c.status == Status.IN_PROGRESS)
    .limit(ACTIONS)
    .subquery()
)
_OLDEST = sa.select(
    utcnow().label("now"),
    sa.select(_READY.c.ready_at)
    .where(_HOLDER.is_(None))
    .order_by(_READY.c.ready_at)
    .limit(1)
    .scalar_subquery()
    .label("ready"),
    sa.select(sa.func.min(_UNDER_WAY.c.since)).scalar_subquery().label("traversal"),
    sa.select(sa.func.min(_ACTED_ON.c.since)).scalar_subquery().label("action"),
    sa.select(sa.func.min(stack_observed.c.due_at)).scalar_subquery().label("observation"),
)

_SUCCESSOR = service.alias("successor")

#: Of a daemon: one of its kind has come up on its host after it was last heard of.
_IS_REPLACED = sa.exists().where(
    _SUCCESSOR.c.host == service.c.host,
    _SUCCESSOR.c.binary == service.c.binary,
    _SUCCESSOR.c.created_at > service.c.updated_at,
)


@reading
def make(connection: Connection, *, dead_after: float) -> Survey:
    """Look once; each minimum is among the first entries of an index, or a bounded number of rows."""
    oldest = connection.execute(_OLDEST).one()
    lives = alive(dead_after).label("lives")
    counted = sa.select(service.c.binary, lives, sa.func.count(), sa.func.sum(service.c.backlog))
    counted = counted.where(sa.or_(alive(dead_after), ~_IS_REPLACED)).group_by(service.c.binary, lives)
    found = connection.execute(counted).all()
    return Survey(
        ready=_age(oldest.now, oldest.ready),
        traversal=_age(oldest.now, oldest.traversal),
        action=_age(oldest.now, oldest.action),
        observation=_age(oldest.now, oldest.observation),
        daemons={(binary, bool(lives)): number for binary, lives, number, _ in found},
        backlog=int(sum(backlog for _, lives, _, backlog in found if lives)),
    )


def _age(now: datetime, since: datetime | None) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())
