# SPDX-License-Identifier: Apache-2.0
"""Where events are delivered to, and which have been.

Revision: 0006.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0006"
down_revision = "0005"

TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
BIG_INT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.create_table(
        "event_sink",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=True),
        sa.Column("spec", LONG_TEXT, nullable=False),
        sa.Column("cursor", BIG_INT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("claim", sa.String(length=36), nullable=True),
        sa.Column("removed_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_sink")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_event_sink_due_at"), "event_sink", ["due_at"])
    op.create_index(op.f("ix_event_sink_stack_id"), "event_sink", ["stack_id"])
    op.create_table(
        "event_sent",
        sa.Column("sink_id", sa.String(length=36), nullable=False),
        sa.Column("event_id", BIG_INT, autoincrement=False, nullable=False),
        sa.Column("event_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("sink_id", "event_id", name=op.f("pk_event_sent")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
