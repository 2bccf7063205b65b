# SPDX-License-Identifier: Apache-2.0
"""By what right daemons act for a stack: found again by its own id, and given back when it is due.

Revision: 0014.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0014"
down_revision = "0013"

LONG_TEXT = (
    sa.Text()
    .with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
    .with_variant(sa.Text(collation="C"), "postgresql")
)
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


def _string(length: int) -> sa.String:
    return sa.String(length=length).with_variant(sa.String(length=length, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one; no earlier release has written to this table."""
    op.drop_table("user_creds")
    op.create_table(
        "user_creds",
        sa.Column("id", _string(36), nullable=False),
        sa.Column("stack_id", _string(36), nullable=False),
        sa.Column("project_id", _string(64), nullable=False),
        sa.Column("user_id", _string(64), nullable=False),
        sa.Column("method", _string(32), nullable=False),
        sa.Column("secret", LONG_TEXT, nullable=False),
        sa.Column("due_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_creds")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_user_creds_stack_id"), "user_creds", ["stack_id"])
    op.create_index(op.f("ix_user_creds_due_at"), "user_creds", ["due_at"])
