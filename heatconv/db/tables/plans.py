# SPDX-License-Identifier: Apache-2.0
"""The table of what users want to see before it happens."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import Json, LongText, Sealed, Time, Uuid, string
from heatconv.db.tables.declaring import table

# A plan, as it was made: ``contents`` is what it says, packed, ``asked`` what it was made of, and is
# carried out if it is applied; ``refusal`` is why it was not.  ``stack_id`` is null of one for a stack to be
# made.  After ``expires_at`` nobody finds it any more.
plan = table(
    "plan",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("project_id", string(64), nullable=False),
    sa.Column("user_id", string(64)),
    sa.Column("user_name", string(255)),
    sa.Column("stack_id", Uuid),
    sa.Column("stack_name", string(255), nullable=False),
    sa.Column("action", string(16), nullable=False),
    sa.Column("state", string(16), nullable=False),
    sa.Column("refusal", LongText),
    sa.Column("summary", Json, nullable=False),
    sa.Column("contents", Sealed, nullable=False),
    sa.Column("asked", Sealed, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("expires_at", Time, nullable=False, index=True),
    sa.Index(None, "project_id", "created_at", "id"),
    row=("project_id", "id"),
)
