# SPDX-License-Identifier: Apache-2.0
"""What one transaction can see of another that ends between two of its statements."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.convergence import claims
from heatconv.db.convergence.claimants import Ask, Claimants
from heatconv.db.tables import resource, sync_point
from heatconv.model.nodes import Direction, Node
from heatconv.model.outcomes import Idle
from heatconv.model.states import Action, SyncState
from heatconv.worker.decide import decide
from tests.chaos.stories import FIRST, create


def test_a_node_whose_inputs_went_between_two_statements_is_left_alone(bench):
    """A traversal that fails takes them away after the claim has read that the node is READY."""
    bench.begin(create(FIRST))
    with bench.database.engine.begin() as connection:
        c = connection.execute(sa.select(resource).where(resource.c.name == "C")).one()
        node = sa.and_(sync_point.c.acts_on == c.id, sync_point.c.is_update == sa.true())
        connection.execute(sa.update(sync_point).where(node).values(state=SyncState.READY))
        traversal_id = connection.scalar(sa.select(sync_point.c.traversal_id).where(node))

    (claim,) = claims.claim(
        bench.database,
        [
            Ask(
                traversal_id,
                Node(c.id, Direction.UPDATE),
                Claimants("me", dead_after=60, decide=decide).claimant(),
                c.stack_id,
            )
        ],
    )

    assert isinstance(claim, Idle)
    with bench.database.engine.connect() as connection:
        row = connection.execute(sa.select(resource).where(resource.c.id == c.id)).one()
    assert (row.engine_id, row.action) == (None, Action.INIT)
