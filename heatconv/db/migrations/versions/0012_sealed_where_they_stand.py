# SPDX-License-Identifier: Apache-2.0
"""Sealed values are bound to their rows: those of templates to an id that is known before they are stored.

Revision: 0012.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

UUID = sa.String(length=36).with_variant(sa.String(length=36, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one; daemons of an earlier release leave it null."""
    op.add_column("raw_template", sa.Column("uuid", UUID, nullable=True))
    template = sa.table("raw_template", sa.column("id"), sa.column("uuid"))
    op.execute(sa.update(template).values(uuid=sa.cast(template.c.id, sa.String(36))))
