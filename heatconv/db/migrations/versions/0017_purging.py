# SPDX-License-Identifier: Apache-2.0
"""Deleted stacks are found by when they were deleted, and one engine at a time purges them.

On SQLite no number of an event is given out again; elsewhere none ever was.

Revision: 0017.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0017"
down_revision = "0016"

TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
DELETED = sa.text("deleted_at IS NOT NULL")


def _string(length: int) -> sa.String:
    return sa.String(length=length).with_variant(sa.String(length=length, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one; a release before does not miss any of it."""
    op.create_index(op.f("ix_stack_deleted_at_id"), "stack", ["deleted_at", "id"], postgresql_where=DELETED)
    op.create_table(
        "purge_turn",
        sa.Column("id", _string(16), nullable=False),
        sa.Column("claim", _string(36), nullable=True),
        sa.Column("due_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_purge_turn")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    if op.get_bind().dialect.name == "sqlite":
        numbered_once = {"sqlite_autoincrement": True}
        with op.batch_alter_table("event", recreate="always", table_kwargs=numbered_once):
            pass
