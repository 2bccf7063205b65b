# SPDX-License-Identifier: Apache-2.0
"""Tables of what happened, and of how far that has reached whoever wants to hear of it."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import BigInt, LongText, Sealed, Time, Uuid, string
from heatconv.db.tables.declaring import table

# What happened to which resource or stack, when, why.
event = table(
    "event",
    sa.Column("id", BigInt, primary_key=True),
    sa.Column("uuid", Uuid, nullable=False, unique=True),
    sa.Column("stack_id", Uuid, nullable=False),
    sa.Column("resource_id", Uuid),
    sa.Column("resource_name", string(255), nullable=False),
    sa.Column("resource_type", string(255), nullable=False),
    sa.Column("physical_id", string(255)),
    sa.Column("action", string(16), nullable=False),
    sa.Column("status", string(16), nullable=False),
    sa.Column("status_reason", LongText, nullable=False),
    sa.Column("properties", Sealed),
    sa.Column("created_at", Time, nullable=False),
    sa.Index(None, "stack_id", "id"),
    row=("stack_id", "uuid"),
    numbered_once=True,  # or a cursor would be beyond what happens after the newest have gone
)

# Where the events of a stack are delivered to, as its environment says, and how far that is: all up to
# ``cursor`` are, and those of ``event_sent``.  ``claim`` is whose turn it is, until ``due_at``;
# ``removed_at``, when the environment ceased to name it.  The row without a stack is the operator's, who
# wants the events of all.
event_sink = table(
    "event_sink",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("stack_id", Uuid, index=True),
    sa.Column("spec", Sealed, nullable=False),
    sa.Column("cursor", BigInt, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("due_at", Time, nullable=False, index=True),
    sa.Column("claim", Uuid),
    sa.Column("removed_at", Time),
    row=("stack_id", "id"),
)

# What was delivered beyond the cursor: a transaction that is still open may have events with smaller ids.
event_sent = table(
    "event_sent",
    sa.Column("sink_id", Uuid, primary_key=True),
    sa.Column("event_id", BigInt, primary_key=True, autoincrement=False),
    sa.Column("event_at", Time, nullable=False),
)
