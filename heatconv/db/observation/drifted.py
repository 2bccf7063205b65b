# SPDX-License-Identifier: Apache-2.0
"""Which stacks, and which resources of one, have drifted: no more than lists and pictures tell."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence.sync_points import portions
from heatconv.db.observation.observable import HOLDS, IS_DRIFT
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import resource, resource_observed, stack_observed
from heatconv.model.drift import StackDrift


@reading
def of_stacks(connection: Connection, stack_ids: Sequence[str]) -> dict[str, StackDrift]:
    """Return how root stacks were found, of those that are known to have been looked at."""
    columns = [
        stack_observed.c[name] for name in ("stack_id", "status", "since", "observed_at", "traversal_id")
    ]
    return {
        row.stack_id: rows.stack_drift(*row)
        for ids in portions(stack_ids)
        for row in connection.execute(sa.select(*columns).where(stack_observed.c.stack_id.in_(ids)))
    }


@reading
def names(connection: Connection, stack_id: str) -> set[str]:
    """Return the names of the resources of a stack that have drifted."""
    query = (
        sa.select(resource.c.name)
        .select_from(resource.join(resource_observed, HOLDS))
        .where(resource_observed.c.stack_id == stack_id, IS_DRIFT, resource.c.desired_sha1.is_not(None))
    )
    return set(connection.scalars(query))
