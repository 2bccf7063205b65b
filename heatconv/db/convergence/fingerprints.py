# SPDX-License-Identifier: Apache-2.0
"""Whether stacks have changed: by a few entries of indexes for each, and one statement for many.

A stack has changed when its row has been written, or when there is another event of it: what begins
or ends in it leaves an event.  Events are numbered when they are written, and seen when their
transaction has ended, so that one may come to light below another that was seen before: it shows
because it moves those beneath it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

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

_EACH = sa.select(
    stack.c.id,
    stack.c.atomic_key,
    _LAST.label("last"),
    _EARLIER.label("earlier"),
    # Of few events their number says what the lowest of many does.
    sa.case((_EARLIER.is_(None), _COUNT.scalar_subquery()), else_=OVERTAKING).label("number"),
)
_IDS: sa.BindParameter[Any] = sa.bindparam("ids", expanding=True)
_READ = _EACH.where(stack.c.id.in_(_IDS))

_INSIDE = sa.and_(stack.c.root_stack_id.in_(_IDS), stack.c.deleted_at.is_(None))
_IN_TREES = _EACH.add_columns(stack.c.root_stack_id).where(sa.or_(stack.c.id.in_(_IDS), _INSIDE))


@reading
def fingerprints(connection: Connection, stack_ids: Sequence[str]) -> dict[str, str]:
    """Return a text for each stack that is there: another one whenever the stack has changed."""
    return {
        row.id: _fingerprint(row)
        for ids in portions(stack_ids)
        for row in connection.execute(_READ, {"ids": list(ids)})
    }


@reading
def tree_fingerprints(connection: Connection, stack_ids: Sequence[str]) -> dict[str, str]:
    """Return the same of stacks together with all that is nested in them; of a nested one, by itself.

    That costs a look at each of those.
    """
    found: dict[str, str] = {}
    for ids in portions(stack_ids):
        trees: dict[str, list[str]] = {}
        for row in connection.execute(_IN_TREES, {"ids": list(ids)}):
            for around in {row.id, row.root_stack_id} & set(ids):
                trees.setdefault(around, []).append(f"{row.id}.{_fingerprint(row)}")
        # Not for security: whoever asks may see all of them.
        found |= {
            each: hashlib.sha1("".join(sorted(those)).encode(), usedforsecurity=False).hexdigest()
            for each, those in trees.items()
        }
    return found


def _fingerprint(row: Any) -> str:
    return f"{row.atomic_key}.{row.last or 0}.{row.earlier or 0}.{row.number}"
