# SPDX-License-Identifier: Apache-2.0
"""What is really there, when it is looked at, and how often it was healed.

``resource_observed`` was never written to before.

Revision: 0003.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0003"
down_revision = "0002"

LONG = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.drop_table("resource_observed")
    op.create_table(
        "resource_observed",
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("atomic_key", BIG, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=True),
        sa.Column("handling", sa.String(length=8), nullable=False),
        sa.Column("digest", sa.String(length=40), nullable=False),
        sa.Column("reason", LONG, nullable=False),
        sa.Column("observed_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("pk_resource_observed")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_resource_observed_stack_id"), "resource_observed", ["stack_id"])
    op.create_table(
        "stack_observed",
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.Column("observed_at", TIME, nullable=True),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("claim", sa.String(length=36), nullable=True),
        sa.Column("cursor", sa.String(length=36), nullable=True),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("heals", sa.Integer(), nullable=False),
        sa.Column("heals_since", TIME, nullable=True),
        sa.Column("traversal_id", sa.String(length=36), nullable=True),
        sa.PrimaryKeyConstraint("stack_id", name=op.f("pk_stack_observed")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_stack_observed_due_at"), "stack_observed", ["due_at"])
    op.create_index(op.f("ix_stack_observed_claim"), "stack_observed", ["claim"])
    op.create_table(
        "resource_healing",
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("resource_name", sa.String(length=255), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.Column("tripped", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("stack_id", "resource_name", name=op.f("pk_resource_healing")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
