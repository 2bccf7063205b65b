# SPDX-License-Identifier: Apache-2.0
"""Tables of what is really there, and of what was done about it."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import BigInt, LongText, Sealed, Time, Uuid, string
from heatconv.db.tables.declaring import table

# A root stack with all that is nested in it, as it was found when it was last looked at, and when
# that is next.  There is no row of a stack that was never observed.  ``claim`` is whose
# turn it is, ``cursor`` the last row of a round that takes several, ``blind`` that something could
# not be looked at in it.  ``heals`` counts those begun in the hour after ``heals_since``;
# ``traversal_id`` is the last traversal that was ours, or that we know to be a user's.
stack_observed = table(
    "stack_observed",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("status", string(16), nullable=False),
    sa.Column("since", Time, nullable=False),
    sa.Column("observed_at", Time),
    sa.Column("due_at", Time, nullable=False, index=True),
    sa.Column("claim", Uuid, index=True),
    sa.Column("cursor", Uuid),
    sa.Column("blind", sa.Boolean, nullable=False),
    sa.Column("heals", sa.Integer, nullable=False),
    sa.Column("heals_since", Time),
    sa.Column("traversal_id", Uuid),
)

# What is really there, apart from what is wanted: written when it is not as it was found the last time.
# It holds as long as the resource's ``atomic_key`` is the one it was seen with.  ``kind`` is
# null of what is as it was made.
resource_observed = table(
    "resource_observed",
    sa.Column("resource_id", Uuid, primary_key=True),
    sa.Column("stack_id", Uuid, nullable=False, index=True),
    sa.Column("atomic_key", BigInt, nullable=False),
    sa.Column("kind", string(16)),
    sa.Column("handling", string(8), nullable=False),
    sa.Column("digest", string(40), nullable=False),
    sa.Column("reason", LongText, nullable=False),
    sa.Column("observed_at", Time, nullable=False),
)

# How often a resource was healed, by name since healing may replace its row, in the hour after
# ``since``; ``tripped``: it did not stay healed, and is left alone.
resource_healing = table(
    "resource_healing",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("resource_name", string(255), primary_key=True),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("since", Time, nullable=False),
    sa.Column("tripped", sa.Boolean, nullable=False),
)

# The live values of the properties that are not as they were made.
resource_properties_observed = table(
    "resource_properties_observed",
    sa.Column("stack_id", Uuid, primary_key=True),
    sa.Column("resource_name", string(255), primary_key=True),
    sa.Column("prop_name", string(255), primary_key=True),
    sa.Column("prop_value", Sealed),
)
