# SPDX-License-Identifier: Apache-2.0
"""A row keeps the deletion policy of the newest template that names its resource.

Revision: 0009.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

TEXT = sa.String(length=16).with_variant(sa.String(length=16, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema from the one before to this one; null is the policy of the row's definition."""
    op.add_column("resource", sa.Column("deletion_policy", TEXT, nullable=True))
