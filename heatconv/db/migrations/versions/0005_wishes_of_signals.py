# SPDX-License-Identifier: Apache-2.0
"""What signals wish of nested stacks, until it is carried out.

Revision: 0005.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0005"
down_revision = "0004"

TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.create_table(
        "wish",
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("pk_wish")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
    op.create_index(op.f("ix_wish_since"), "wish", ["since"])
