# SPDX-License-Identifier: Apache-2.0
"""${message}

Revision: ${up_revision}, after ${down_revision | comma,n}
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
contracts = False  # True, if daemons of the release before may need what it takes away


def upgrade() -> None:
    """Bring the schema from the one before to this one."""
    ${upgrades if upgrades else "pass"}
