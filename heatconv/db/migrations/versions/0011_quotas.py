# SPDX-License-Identifier: Apache-2.0
"""What is locked while it is counted how many of a kind a project has.

Revision: 0011.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

BIG_INT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _string(length: int) -> sa.String:
    return sa.String(length=length).with_variant(sa.String(length=length, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.create_table(
        "quota",
        sa.Column("project_id", _string(64), nullable=False),
        sa.Column("kind", _string(32), nullable=False),
        sa.Column("atomic_key", BIG_INT, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "kind", name=op.f("pk_quota")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
