# SPDX-License-Identifier: Apache-2.0
"""What nobody can know: a type that cannot be searched, and a worker killed before it had the answer.

One object may be left behind then, for each kill, if an event names it.  Every
other object that no row knows of is a wrong world.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.places import Opened
from heatconv.db.tables import event, resource, snapshot

MADE = "after a request to the cloud"
KEPT = "after COMMIT"

_NAMED = re.compile('"([^"]+)"')


def could_leave(passed: Sequence[str]) -> bool:
    """Tell whether a process died after a request was carried out and before anything of it was kept."""
    made = max((index for index, boundary in enumerate(passed) if boundary == MADE), default=None)
    return made is not None and KEPT not in passed[made:]


def orphans(connection: Connection, objects: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield an object that no row knows of and that an event names; no more than one for a name."""
    known = _known(connection)
    named = {
        name
        for reason in connection.scalars(sa.select(event.c.status_reason).where(NAMING))
        for name in _NAMED.findall(reason)
    }
    for found in objects:
        name = next((name for name in named if found["name"] in (name, f"{name}-image")), None)
        if found["id"] not in known and name is not None:
            named.remove(name)
            yield found


#: The events that tell what may have been left behind.
NAMING = event.c.status_reason.contains("may have left")


def _known(connection: Connection) -> set[str]:
    known: set[str] = set()
    for row in connection.execute(sa.select(resource)):
        known |= {row.physical_id, *(Opened(resource, row).data or {}).values()}
    for row in connection.execute(sa.select(snapshot)):
        for part in ((Opened(snapshot, row).data or {}).get("resources") or {}).values():
            known |= set((part.get("resource_data") or {}).values())
    return known
