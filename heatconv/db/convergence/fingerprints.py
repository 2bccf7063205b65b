# SPDX-License-Identifier: Apache-2.0
"""Whether stacks have changed: by a few entries of indexes for each, and one statement for many.

A stack has changed when its row has been written, or when there is another event of it: what begins
or ends in it leaves an event.  Events are numbered when they are written, and seen when their
transaction has ended, so that one may come to light below another that was seen before: it shows
because it moves those beneath it.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence.sync_points import portions
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import event, stack

#: How many events of a stack may be seen while the transaction of one that is numbered lower is open.
OVERTAKING = 16

_OF_STACK = event.c.stack_id == stack.c.id
_NEWEST = sa.select(event.c.id).where(_OF_STACK).order_by(event.c.id.desc()).limit(1).correlate(stack)
_COUNT = sa.select(sa.func.count()).select_from(event).where(_OF_STACK).correlate(stack)
_LAST = _NEWEST.scalar_subquery()
_EARLIER = _NEWEST.offset(OVERTAKING - 1).scalar_subquery()

_READ = sa.select(
    stack.c.id,
    stack.c.atomic_key,
    _LAST.label("last"),
    _EARLIER.label("earlier"),
    # Of few events their number says what the lowest of many does.
    sa.case((_EARLIER.is_(None), _COUNT.scalar_subquery()), else_=OVERTAKING).label("number"),
).where(stack.c.id.in_(sa.bindparam("ids", expanding=True)))


@reading
def fingerprints(connection: Connection, stack_ids: Sequence[str]) -> dict[str, str]:
    """Return a text for each stack that is there: another one whenever the stack has changed."""
    return {
        row.id: f"{row.atomic_key}.{row.last or 0}.{row.earlier or 0}.{row.number}"
        for ids in portions(stack_ids)
        for row in connection.execute(_READ, {"ids": list(ids)})
    }
