# SPDX-License-Identifier: Apache-2.0
"""Breakpoints, metadata that several write, stacks that are abandoned.

Revision: 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    op.add_column("resource", sa.Column("hook", sa.String(length=32), nullable=True))
    op.add_column("resource", sa.Column("metadata_key", BIG, nullable=False, server_default="0"))
    op.add_column("stack", sa.Column("abandoned", sa.Boolean(), nullable=False, server_default="0"))
