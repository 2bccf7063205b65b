# SPDX-License-Identifier: Apache-2.0
"""The end of an upgrade: what only daemons of the release before needed is taken away.

Daemons sign on with the newest revision that they know, and look after that what was announced to be taken
away; it is announced, and looked after that who has signed on.  Whichever comes first, one of both sees
the other: no daemon is up with a schema that it cannot work with.
"""

from __future__ import annotations

from heatconv import errors
from heatconv.db.convergence import services
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.model.records import Service


def contract(database: Database, *, dead_after: float) -> None:
    """Bring a database to the newest schema; what is taken away no daemon that is up may need.

    If that is interrupted, it goes on when it is done again; daemons of the release before stay away.

    Raises:
        Misconfigured: some daemon that is up may need it.
    """
    migration.expand(database)
    contracting = [each for each in migration.pending(database) if migration.is_contracting(each)]
    if not contracting:
        return
    migration.announce(database, contracting)
    behind = [each for each in _up(database, dead_after) if not _knows(each, contracting[-1])]
    if behind:
        migration.withdraw(database, contracting)
        known = ", ".join(f"{each.binary} {each.engine_id} on {each.host}" for each in behind)
        raise errors.Misconfigured(
            reason=f"Daemons of an earlier release are up, which may need what {', '.join(contracting)} take"
            f" away: {known}. Replace them by those of this release, and run this again."
        )
    migration.upgrade(database)


def _up(database: Database, dead_after: float) -> list[Service]:
    return [each for each in services.list_services(database, dead_after=dead_after) if each.alive]


def _knows(service: Service, revision: str) -> bool:
    return migration.knows(service.edition.schema_revision if service.edition else None, revision)
