# SPDX-License-Identifier: Apache-2.0
"""Plans are stored, and a row has what the plan that is applied lets a worker do with it.

Revision: 0016.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0016"
down_revision = "0015"

LONG_TEXT = (
    sa.Text()
    .with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
    .with_variant(sa.Text(collation="C"), "postgresql")
)
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


def _string(length: int) -> sa.String:
    return sa.String(length=length).with_variant(sa.String(length=length, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one; null: no plan is applied, or nobody is known."""
    op.add_column("resource", sa.Column("foreseen", LONG_TEXT, nullable=True))
    op.add_column("stack", sa.Column("changed_by", _string(255), nullable=True))
    op.add_column("stack", sa.Column("guarded", sa.Boolean(), nullable=False, server_default="0"))
    op.create_table(
        "plan",
        sa.Column("id", _string(36), nullable=False),
        sa.Column("project_id", _string(64), nullable=False),
        sa.Column("user_id", _string(64), nullable=True),
        sa.Column("user_name", _string(255), nullable=True),
        sa.Column("stack_id", _string(36), nullable=True),
        sa.Column("stack_name", _string(255), nullable=False),
        sa.Column("action", _string(16), nullable=False),
        sa.Column("state", _string(16), nullable=False),
        sa.Column("refusal", LONG_TEXT, nullable=True),
        sa.Column("summary", LONG_TEXT, nullable=False),
        sa.Column("contents", LONG_TEXT, nullable=False),
        sa.Column("asked", LONG_TEXT, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plan")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_plan_project_id_created_at_id"), "plan", ["project_id", "created_at", "id"])
    op.create_index(op.f("ix_plan_expires_at"), "plan", ["expires_at"])
