# SPDX-License-Identifier: Apache-2.0
"""A stack knows up to which of its events they were dropped.

Revision: 0020.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
contracts = False

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema from the one before to this one; a release before does not miss any of it."""
    op.add_column("stack", sa.Column("last_dropped", NUMBER, nullable=True))
