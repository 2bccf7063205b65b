# SPDX-License-Identifier: Apache-2.0
"""The claims on rows that are to own nested stacks, held on to while these stacks are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.convergence import row_locks
from heatconv.db.convergence.row_locks import Hold
from heatconv.db.tables import resource
from heatconv.model.records import Held
from heatconv.model.states import Action

_other = resource.alias("other")
_HOLD = (
    sa.select(
        resource.c.id,
        sa.exists()
        .where(
            _other.c.stack_id == resource.c.stack_id,
            _other.c.name == resource.c.name,
            _other.c.action == Action.DELETE,
        )
        .label("clearing"),
    )
    .where(
        resource.c.id.in_(sa.bindparam("ids", expanding=True)),  # which MariaDB looks up in the index
        sa.tuple_(resource.c.id, resource.c.engine_id, resource.c.atomic_key).in_(
            sa.bindparam("claims", expanding=True)
        ),
    )
    .with_for_update(of=resource, skip_locked=True)
)


def hold(connection: Connection, claims: Sequence[Held]) -> Mapping[str, Hold]:
    """Hold on to claims until the transaction ends; return what is known of each by then, by its row's id.

    Of several, those are left out that do not count any more, and those whose rows another transaction has
    locked.

    Raises:
        ResourceLocked: there is one, and it does not count any more.
    """
    if len(claims) > 1:
        keys = [(claim.id, claim.engine_id, claim.atomic_key) for claim in claims]
        found = connection.execute(_HOLD, {"ids": [claim.id for claim in claims], "claims": keys})
        return {row.id: Hold(clearing=bool(row.clearing)) for row in found}
    held = {claim.id: row_locks.hold(connection, claim) for claim in claims}
    counting = {row_id: hold for row_id, hold in held.items() if hold is not None}
    if len(counting) < len(claims):
        raise errors.ResourceLocked(name=claims[0].id)
    return counting
