# SPDX-License-Identifier: Apache-2.0
"""heatconv's schema, as heatconv-manage db_sync makes it."""

from __future__ import annotations

from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database


def migrate(url: str) -> None:
    """Bring the database at a URL to the newest schema."""
    database = Database.from_url(url)
    try:
        migration.upgrade(database)
    finally:
        database.close()
