# SPDX-License-Identifier: Apache-2.0
"""What an operator does and sees while one release takes the place of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib import metadata

from heatconv import errors
from heatconv.db import upgrading
from heatconv.db.convergence import services
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.model.records import Edition, Service
from heatconv.rpc import versions


def sync(database: Database, *, dead_after: float, contract: bool) -> Iterator[str]:
    """Bring the database to a newer schema, and yield what is to be said of that.

    ``contract``: take away, too, what only daemons of the release before needed.

    Raises:
        Misconfigured: daemons of this release cannot run yet.
    """
    if contract:
        upgrading.contract(database, dead_after=dead_after)
    else:
        migration.expand(database)
    found = migration.version(database)
    yield f"The database is at {found}."
    if waiting := unfinished(database):
        yield waiting
    migration.check(database)


def unfinished(database: Database) -> str | None:
    """Return what is to be done to finish an upgrade, if something is."""
    pending = migration.pending(database)
    if not pending or not migration.is_contracting(pending[0]):
        return None
    return (
        f"{pending[0]} takes away what daemons of the release before need: when none of those is up any more,"
        " run 'heatconv-manage db_sync --contract'."
    )


def status(database: Database, *, dead_after: float) -> Iterator[str]:
    """Yield what this release is, what the database is at, and what the daemons are that are up."""
    mine = Edition(metadata.version("heatconv"), migration.newest(), versions.CURRENT)
    yield f"this release: {described(mine)}"
    try:
        migration.check(database)
    except errors.Misconfigured as problem:
        yield f"database: {problem}"
        return
    yield f"database: schema {migration.version(database)}"
    if waiting := unfinished(database):
        yield waiting
    up = [each for each in services.list_services(database, dead_after=dead_after) if each.alive]
    for (binary, edition), count in sorted(Counter(map(_kind, up)).items()):
        yield f"up: {count} {binary}, {edition}"
    for topic, found in sorted(services.rpc_versions(database, dead_after=dead_after).items()):
        yield f"understood by all of {topic}: messages of version {versions.oldest(found)}"


def _kind(service: Service) -> tuple[str, str]:
    return service.binary, described(service.edition)


def described(edition: Edition | None) -> str:
    """Return what a daemon was made from, in words."""
    if edition is None:
        return "of a release that does not say"
    return f"release {edition.release}, schema {edition.schema_revision}, messages {edition.rpc_version}"
