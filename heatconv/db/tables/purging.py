# SPDX-License-Identifier: Apache-2.0
"""The table of whose turn it is to purge."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import Time, Uuid, string
from heatconv.db.tables.declaring import table

# One row, once an engine has purged: whose turn it is, until ``due_at``, when the next one is due.
purge_turn = table(
    "purge_turn",
    sa.Column("id", string(16), primary_key=True),
    sa.Column("claim", Uuid),
    sa.Column("due_at", Time, nullable=False),
)
