# SPDX-License-Identifier: Apache-2.0
"""Daemons and their heartbeats, by the database's clock."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.plumbing.session import reading, writing
from heatconv.db.plumbing.types import seconds_ago, utcnow
from heatconv.db.tables import service
from heatconv.model.records import Edition, Service


def alive(dead_after: float | sa.ColumnElement[float]) -> sa.ColumnElement[bool]:
    """Return the expression that tells whether a row of ``service`` heartbeats."""
    return sa.func.coalesce(service.c.updated_at > seconds_ago(dead_after), sa.false())


@writing
def heartbeat(
    connection: Connection,
    *,
    engine_id: str,
    host: str,
    binary: str,
    topic: str,
    interval: int,
    backlog: int = 0,
    edition: Edition | None = None,
) -> None:
    """Say that a daemon is alive.

    Args:
        edition: what it was made from; as long as it runs that is the same.
        interval: the seconds until it says so again.
        backlog: the messages it has taken and not begun.
    """
    mine = sa.update(service).where(service.c.engine_id == engine_id)
    if connection.execute(mine.values(updated_at=utcnow(), backlog=backlog)).rowcount:
        return
    connection.execute(
        sa.insert(service).values(
            engine_id=engine_id,
            host=host,
            binary=binary,
            topic=topic,
            report_interval=interval,
            backlog=backlog,
            created_at=utcnow(),
            updated_at=utcnow(),
            **(vars(edition) if edition else {}),
        )
    )


@writing
def forget(connection: Connection, engine_id: str) -> None:
    """Sign a daemon off."""
    connection.execute(sa.delete(service).where(service.c.engine_id == engine_id))


@reading
def list_services(connection: Connection, *, dead_after: float) -> list[Service]:
    """Return every daemon that is signed on, with whether it heartbeats."""
    query = sa.select(service, alive(dead_after).label("alive")).order_by(service.c.binary, service.c.host)
    return [rows.service(row, alive=bool(row.alive)) for row in connection.execute(query)]


@reading
def rpc_versions(connection: Connection, *, dead_after: float) -> dict[str, set[str | None]]:
    """Return by topic which versions the daemons that heartbeat understand; None: of before they said so."""
    found: dict[str, set[str | None]] = {}
    query = sa.select(service.c.topic, service.c.rpc_version).where(alive(dead_after)).distinct()
    for topic, version in connection.execute(query):
        found.setdefault(topic, set()).add(version)
    return found


@reading
def is_queueing(connection: Connection, *, dead_after: float) -> bool:
    """Tell whether messages wait in some daemon and none can have died with another lately."""
    someone_died = (
        sa.select(service.c.engine_id)
        .where(~alive(dead_after), service.c.updated_at > seconds_ago(20 * dead_after))
        .exists()
    )
    waiting = sa.select(service.c.engine_id).where(alive(dead_after), service.c.backlog > 0).exists()
    return bool(connection.scalar(sa.select(sa.and_(waiting, ~someone_died))))


@writing
def clean(connection: Connection, *, dead_after: float) -> int:
    """Drop the daemons that do not heartbeat any more; return how many."""
    gone = sa.delete(service).where(service.c.updated_at <= seconds_ago(dead_after))
    return int(connection.execute(gone).rowcount)
