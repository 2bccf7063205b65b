# SPDX-License-Identifier: Apache-2.0
"""How a table is declared: what all of them have in common."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from heatconv.db.plumbing.places import ROW

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def table(name: str, *items: Any, row: tuple[str, ...] = (), numbered_once: bool = False) -> sa.Table:
    """Declare a table.

    Args:
        name: what it is called.
        items: its columns and indexes.
        row: the columns that its sealed values are bound to, if not its key.
        numbered_once: no number is given out again, though its row has gone; SQLite would.
    """
    return sa.Table(
        name,
        metadata,
        *items,
        info={ROW: row},
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        sqlite_autoincrement=numbered_once,
    )
