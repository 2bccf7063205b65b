# SPDX-License-Identifier: Apache-2.0
"""A row keeps that its resource has handed over to a replacement.

Revision: 0013.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0013"
down_revision = "0012"

LONG_TEXT = (
    sa.Text()
    .with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
    .with_variant(sa.Text(collation="C"), "postgresql")
)


def upgrade() -> None:
    """Bring the schema from the one before to this one; null: it has not, or took it back."""
    op.add_column("resource", sa.Column("handover", LONG_TEXT, nullable=True))
