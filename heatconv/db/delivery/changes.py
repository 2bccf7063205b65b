# SPDX-License-Identifier: Apache-2.0
"""Reading what has happened since somebody looked: in a stack alone, or in all that is nested in it, too.

Of a nested stack that is itself.  What is read are entries of the index of events by stack, from
the newest backwards; nothing is written for whoever looks.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.delivery.events import SETTLED
from heatconv.db.delivery.sinks import OPEN
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import event, stack
from heatconv.model.changes import Numbered, Present
from heatconv.model.records import Event

_ALONE = stack.c.id == sa.bindparam("of")
_OF = {
    False: _ALONE,
    True: sa.or_(_ALONE, stack.c.root_stack_id == sa.bindparam("of")),
}  #: with what is nested

_LAST_SETTLED = (
    sa.select(event.c.id)
    .where(event.c.stack_id == stack.c.id, SETTLED)
    .order_by(event.c.id.desc())
    .limit(1)
    .correlate(stack)
    .scalar_subquery()
)
_FLOOR = sa.select(sa.func.max(_LAST_SETTLED)).select_from(stack)
_NUMBERS = (
    sa.select(event.c.id, SETTLED.label("settled"))
    .join(stack, stack.c.id == event.c.stack_id)
    .where(event.c.id >= sa.bindparam("floor"))
    .order_by(event.c.id)
)
_LAST_DROPPED = sa.select(sa.func.max(stack.c.last_dropped))
_NAMED = (
    sa.select(
        *(column for column in event.c if column is not event.c.properties),
        sa.null().label("properties"),
        stack.c.name.label("stack_name"),
    )
    .join(stack, stack.c.id == event.c.stack_id)
    .where(event.c.id.in_(sa.bindparam("numbers", expanding=True)))
    .order_by(event.c.id)
)


@reading
def youngest(connection: Connection, stack_id: str, *, nested: bool, settled_after: float = OPEN) -> Present:
    """Return the events of a stack from the newest one on that is settled."""
    asked = {"of": stack_id, "settled_after": settled_after}
    floor = connection.scalar(_FLOOR.where(_OF[nested]), asked) or 0
    return _present(connection, {**asked, "floor": floor}, nested=nested)


@reading
def from_floor(
    connection: Connection, stack_id: str, floor: int, *, nested: bool, settled_after: float = OPEN
) -> Present:
    """Return the events of a stack from one of them on."""
    asked = {"of": stack_id, "floor": floor, "settled_after": settled_after}
    return _present(connection, asked, nested=nested)


def _present(connection: Connection, asked: dict[str, object], *, nested: bool) -> Present:
    found = connection.execute(_NUMBERS.where(_OF[nested]), asked)
    events = [Numbered(row.id, bool(row.settled)) for row in found]
    # Last: what is dropped after the events were read is said too often rather than never.
    dropped = connection.scalar(_LAST_DROPPED.where(_OF[nested]), asked)
    return Present(events, dropped or 0)


@reading
def numbered(connection: Connection, numbers: Sequence[int]) -> list[tuple[Event, str]]:
    """Return events by their numbers, without properties, each with the name of its stack."""
    found = connection.execute(_NAMED, {"numbers": list(numbers)})
    return [(rows.event(row), row.stack_name) for row in found]
