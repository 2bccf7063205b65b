# SPDX-License-Identifier: Apache-2.0
"""Whether the server takes as many connections as the daemons may open."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence.services import alive
from heatconv.db.plumbing.session import Database, reading
from heatconv.db.tables import service

#: How a server says how many connections it takes; of others there is no limit to know.
_LIMITS: Mapping[str, str] = {
    "postgresql": "SELECT current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int",
    "mysql": "SELECT @@max_connections",
}


def shortage(database: Database, *, dead_after: float) -> str | None:
    """Return what to do about a server that takes fewer connections than the daemons may open.

    None if they fit, as far as those go by that are up now, and open as many as this one.
    """
    limit, daemons = _known(database, dead_after=dead_after)
    wanted = daemons * database.most_connections
    if limit is None or wanted <= limit:
        return None
    return (
        f"the database takes {limit} connections, and the {daemons} daemons that are up may open"
        f" {database.most_connections} each, {wanted} in all: raise its max_connections, or lower"
        " [database] max_pool_size and max_overflow"
    )


@reading
def _known(connection: Connection, *, dead_after: float) -> tuple[int | None, int]:
    asked = _LIMITS.get(connection.dialect.name)
    limit = None if asked is None else int(connection.scalar(sa.text(asked)) or 0)
    up = sa.select(sa.func.count()).select_from(service).where(alive(dead_after))
    return limit, connection.scalar(up) or 0
