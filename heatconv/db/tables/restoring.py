# SPDX-License-Identifier: Apache-2.0
"""The table of what a database that was restored from a dump does not know of the world."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import Time, Uuid
from heatconv.db.tables.declaring import table

# A root stack that is to be looked at and put right once, from ``due_at`` on, since the world may have
# gone on after the dump.
restored_stack = table(
    "restored_stack",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("due_at", Time, nullable=False, index=True),
)
