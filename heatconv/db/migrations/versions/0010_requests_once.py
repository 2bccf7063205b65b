# SPDX-License-Identifier: Apache-2.0
"""Requests that were carried out, and their answers.

Revision: 0010.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0010"
down_revision = "0009"

LONG_TEXT = (
    sa.Text()
    .with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
    .with_variant(sa.Text(collation="C"), "postgresql")
)
UUID = sa.String(length=36).with_variant(sa.String(length=36, collation="C"), "postgresql")
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.create_table(
        "request",
        sa.Column("id", UUID, nullable=False),
        sa.Column("answer", LONG_TEXT, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_request")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_request_created_at"), "request", ["created_at"])
