# SPDX-License-Identifier: Apache-2.0
"""Texts compare as bytes, trailing spaces included, and are sorted likewise.

Ids, names and projects that differ in no more than case, an accent or a space at the end were
one and the same by what MariaDB and MySQL do unless they are told otherwise; whatever was unique
by that is unique by its bytes too.  No table refers to another by a foreign key, which would have
to be of the same collation.

Each table is rebuilt by one statement, and what is so already is left alone: it may be broken off
and begun again.  Daemons of the version before may run meanwhile.  They wait while a table they
write to is rebuilt, and lock tables in the order of this list.

Revision: 0008.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_TABLES = (
    "stack",
    "stack_tag",
    "raw_template",
    "resource",
    "resource_data",
    "resource_healing",
    "resource_observed",
    "resource_properties_observed",
    "stack_observed",
    "sync_point",
    "sync_point_input",
    "graph_edge",
    "event",
    "event_sink",
    "event_sent",
    "service",
    "snapshot",
    "software_config",
    "software_deployment",
    "user_creds",
    "wish",
)

_BY_TABLE = """
    SELECT table_name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_collation <> :wanted
    UNION SELECT table_name FROM information_schema.columns
    WHERE table_schema = DATABASE() AND collation_name <> :wanted
"""
_BY_COLUMN = """
    SELECT table_name, column_name, character_maximum_length FROM information_schema.columns
    WHERE table_schema = current_schema() AND data_type IN ('character varying', 'text')
    AND collation_name IS DISTINCT FROM 'C'
"""


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        statements = _of_postgresql(connection)
    elif connection.dialect.name == "sqlite":
        statements = iter(())  # it compares bytes
    else:
        is_mariadb = getattr(connection.dialect, "is_mariadb", False)
        statements = _of_mysql(connection, "utf8mb4_nopad_bin" if is_mariadb else "utf8mb4_0900_bin")
    for statement in statements:
        connection.exec_driver_sql(statement)


def _of_mysql(connection: sa.Connection, wanted: str) -> Iterator[str]:
    found = set(connection.scalars(sa.text(_BY_TABLE), {"wanted": wanted}))
    for table in _TABLES:
        if table in found:
            yield f"ALTER TABLE `{table}` CONVERT TO CHARACTER SET utf8mb4 COLLATE {wanted}"


def _of_postgresql(connection: sa.Connection) -> Iterator[str]:
    changes: dict[str, list[str]] = {}
    for table, column, length in connection.execute(sa.text(_BY_COLUMN)):
        type_ = "TEXT" if length is None else f"VARCHAR({length})"
        changes.setdefault(table, []).append(f'ALTER COLUMN "{column}" TYPE {type_} COLLATE "C"')
    for table in _TABLES:
        if table in changes:
            yield f'ALTER TABLE "{table}" {", ".join(changes[table])}'
