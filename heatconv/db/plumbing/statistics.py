# SPDX-License-Identifier: Apache-2.0
"""What PostgreSQL believes of how large our tables are.

It multiplies how many rows a page had when the table was last looked at with the pages
there are now.  The tables of traversals are empty most of the time, and are looked at then:
nothing times whatever is nothing.  In a table of nothing any way to a row is as good as
any other, and a large stack is read as a whole for each of its nodes, until autovacuum, which
looks once a minute, has seen it.  So it is told at once of what has grown that much.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import Database, writing
from heatconv.db.tables import event, graph_edge, resource, stack, sync_point, sync_point_input

FEW = 100  #: rows that may be read as a whole
APART = 10  #: how many times more rows there may be than are believed

_TABLES = (stack, sync_point, sync_point_input, graph_edge, resource, event)
_PLANNED = (sync_point, graph_edge, resource)  #: those that are filled when a traversal begins

# A table that was never looked at (-1), or that had no pages then, is estimated by its size.
_MISTAKEN = sa.text(
    """
    SELECT relname FROM pg_class
    WHERE oid IN (SELECT to_regclass(name) FROM unnest(CAST(:tables AS text[])) AS name)
      AND reltuples >= 0
      AND greatest(:rows, pg_stat_get_live_tuples(oid)) > :few + :apart * reltuples / nullif(relpages, 0)
          * (pg_relation_size(oid) / current_setting('block_size')::int)
    ORDER BY relname
    """
)


def correct(database: Database, planned: int = 0) -> list[str]:
    """Let PostgreSQL look again at tables that it believes to be far smaller than they are; return which.

    Other databases look for themselves within seconds.

    Args:
        planned: how many nodes a traversal has that was just begun, for that is counted a little later.

    Concurrency: a table that somebody else looks at is left to them.  A user of the database that does not
    own the tables may not ask for it, which PostgreSQL notes, and nothing else happens.
    """
    return _correct(database, planned) if database.engine.dialect.name == "postgresql" else []


@writing
def _correct(connection: Connection, planned: int) -> list[str]:
    tables = [table.name for table in (_PLANNED if planned else _TABLES)]
    asked = {"tables": tables, "rows": planned, "few": FEW, "apart": APART}
    mistaken = list(connection.scalars(_MISTAKEN, asked))
    for name in mistaken:
        connection.execute(sa.text(f"ANALYZE (SKIP_LOCKED) {name}"))
    return mistaken
