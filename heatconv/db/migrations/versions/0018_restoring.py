# SPDX-License-Identifier: Apache-2.0
"""After the database was restored from a dump, each stack is looked at and put right once.

Revision: 0018.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0018"
down_revision = "0017"

TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
UUID = sa.String(length=36).with_variant(sa.String(length=36, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one; a release before does not miss any of it."""
    op.create_table(
        "restored_stack",
        sa.Column("stack_id", UUID, nullable=False),
        sa.Column("due_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("stack_id", name=op.f("pk_restored_stack")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_restored_stack_due_at"), "restored_stack", ["due_at"])
