# SPDX-License-Identifier: Apache-2.0
"""Stretches: nodes of which each waits for the one before it alone, and is all that waits for that."""

from __future__ import annotations

import itertools
import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import node_reads
from heatconv.db.plumbing.prepared import ALONE, Prepared
from heatconv.db.plumbing.session import reading
from heatconv.db.plumbing.types import dumps
from heatconv.db.tables import graph_edge, resource, sync_point
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.records import Job, ResourceRow
from heatconv.model.states import SyncState

_TRAVERSAL: sa.BindParameter[str] = sa.bindparam("of_traversal")


def _is_link(resource_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Return the condition that an update node waits for one other, and its row is its own."""
    return sa.exists().where(
        sync_point.c.traversal_id == _TRAVERSAL,
        sync_point.c.resource_id == resource_id,
        sync_point.c.is_update,
        sync_point.c.acts_on == sync_point.c.resource_id,
        sync_point.c.state == SyncState.WAITING,
        sync_point.c.required == 1,
    )


def _next(resource_id: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
    """Return the link that is all that waits for an update node; NULL: there is none, or more waits for it.

    A value for each node, not a join: what PostgreSQL expects of a traversal that has just begun
    would have it read all of that once for each node.
    """
    waits = sa.and_(graph_edge.c.needed_by_is_update, _is_link(graph_edge.c.needed_by_id))
    return (
        sa.select(sa.case((sa.func.count() == 1, sa.func.min(sa.case((waits, graph_edge.c.needed_by_id))))))
        .where(
            graph_edge.c.traversal_id == _TRAVERSAL,
            graph_edge.c.resource_id == resource_id,
            graph_edge.c.is_update,
        )
        .scalar_subquery()
    )


def _ahead() -> sa.CTE:
    """Return the links after an update node, numbered from 1."""
    number, after = sa.literal(1).label("number"), _next(sa.bindparam("of_resource")).label("id")
    first = sa.select(number, after).cte("links", recursive=True)
    others = sa.select(first.c.number + 1, _next(first.c.id)).where(
        first.c.id.is_not(None), first.c.number < sa.bindparam("most", type_=sa.Integer)
    )
    return first.union_all(others)


_LINKS = _ahead()
_ROWS = Prepared(
    sa.select(*resource.c).select_from(_LINKS.join(resource, resource.c.id == _LINKS.c.id)).order_by("number")
)


@reading
def following(connection: Connection, job: Job, most: int) -> list[ResourceRow]:
    """Return the rows of the stretch after a job's node, as far as nobody holds them; at most so many.

    They are not locked: what is made of them counts if they are as they were read by the time it is written.
    """
    asked = {"of_traversal": job.traversal_id, "of_resource": job.node.resource_id, "most": most}
    found = rows.intact(connection.execute(_ROWS, asked, execution_options=ALONE), rows.resource)
    return list(itertools.takewhile(lambda row: row.engine_id is None, found))


def job_after(before: Job, output: NodeData, row: ResourceRow) -> Job | None:
    """Return what there is to do for the next node of a stretch, by what the one before it has to say.

    That is as whoever reads it from the database has it.  None: it does not require that one alone.
    """
    heard: dict[str, Any] = json.loads(dumps(vars(output)))
    job = Job(
        stack=before.stack,
        traversal_id=before.traversal_id,
        node=Node(row.id, Direction.UPDATE),
        resource=row,
        inputs=(NodeData(**heard),),
    )
    return job if node_reads.requires(job) == {output.name} else None
