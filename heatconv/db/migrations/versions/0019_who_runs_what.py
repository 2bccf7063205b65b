# SPDX-License-Identifier: Apache-2.0
"""Daemons say which release they are of, and the database what is gone from it.

Revision: 0019.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
contracts = False

NAME = sa.String(length=32).with_variant(sa.String(length=32, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one; a release before does not miss any of it."""
    for name in ("release", "schema_revision", "rpc_version"):
        op.add_column("service", sa.Column(name, NAME, nullable=True))
    op.create_table(
        "contraction",
        sa.Column("revision", NAME, nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_contraction")),
        mysql_charset="utf8mb4",
        mysql_engine="InnoDB",
    )
