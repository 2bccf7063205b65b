# SPDX-License-Identifier: Apache-2.0
"""What is different where the database is a cluster of servers that stand in for each other.

A transaction may be tried again on another server than the one that answered before.  That one has
to know all that this process, and whoever rang for it, has seen committed; and a server that answers,
but cannot serve, is one to turn away from, as if the connection were lost.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Engine

#: The statements that wait, as bits: what reads, what changes and what inserts.  Only the first of a
#: transaction does.  A conditional write that found a row as it was would take itself for too late.
EVERY_STATEMENT = 1 | 2 | 4

#: MySQL's errors of a server that takes no statement now: it has left the cluster, or has not joined it; the
#: transaction cannot be committed there; it is read-only by now.
_NOT_READY, _NO_COMMIT, _READ_ONLY, _IN_READ_ONLY_MODE = 1047, 1180, 1290, 1836
_NOT_SUPPORTED = 1235  #: what a server says, too, that has left the cluster when it should wait for it

#: PostgreSQL's error of a server that has become a standby, or that somebody was led to by mistake.
_STANDBY = "25006"


def wait_for_the_cluster(connection: Any) -> None:
    """Let a connection to a Galera node see what any node has committed; to others nothing happens."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW VARIABLES LIKE 'wsrep_on'")
        found = cursor.fetchone()
        if found is not None and found[1] == "ON":
            cursor.execute(f"SET SESSION wsrep_sync_wait = {EVERY_STATEMENT}")


def turn_away_as_needed(engine: Engine) -> None:
    """Let an engine take a server that cannot serve for one that is gone: its connections are opened anew."""
    is_gone = engine.dialect.is_disconnect

    def is_to_be_left(e: Any, connection: Any, cursor: Any) -> bool:
        return cannot_serve(e) or is_gone(e, connection, cursor)

    # A listener to errors would come too late: oslo.db's is there first, and raises what it has no name for.
    engine.dialect.is_disconnect = is_to_be_left  # type: ignore[method-assign]  # of this engine's dialect alone


def cannot_serve(error: BaseException | None) -> bool:
    """Tell whether a server has said that it cannot serve, though others may, or it itself later."""
    if getattr(error, "pgcode", None) == _STANDBY:
        return True
    code, text = (*getattr(error, "args", ()), None, None)[:2]
    if code == _NOT_SUPPORTED:
        return "wsrep" in str(text)
    if code == _READ_ONLY:
        return "read-only" in str(text)
    return code in (_NOT_READY, _NO_COMMIT, _IN_READ_ONLY_MODE)
