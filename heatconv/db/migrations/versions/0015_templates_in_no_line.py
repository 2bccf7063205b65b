# SPDX-License-Identifier: Apache-2.0
"""A template does not name the one that it replaced: nobody asked, and each update wrote it twice.

Revision: 0015.
"""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    with op.batch_alter_table("raw_template") as batch_op:
        batch_op.drop_column("predecessor_id")
