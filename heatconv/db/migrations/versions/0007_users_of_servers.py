# SPDX-License-Identifier: Apache-2.0
"""Whose servers a deployment is shown to is forgotten where a request said so; the service never did.

Revision: 0007.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Bring the data from the schema before to this one."""
    said = sa.table("software_deployment", sa.column("stack_user_project_id", sa.String(64)))
    op.execute(
        sa.update(said).where(said.c.stack_user_project_id.is_not(None)).values(stack_user_project_id=None)
    )
