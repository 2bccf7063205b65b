# SPDX-License-Identifier: Apache-2.0
"""The tables of what must not be done twice, and of what the schema has lost."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import Sealed, Time, Uuid, string
from heatconv.db.tables.declaring import table

# Requests that were carried out, and what was answered; for as long as they may be asked again.
request = table(
    "request",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("answer", Sealed, nullable=False),
    sa.Column("created_at", Time, nullable=False, index=True),
)

# The contracting revisions of the schema, each from just before it is carried out: a daemon that does not
# know one of them may need what that takes away.
contraction = table("contraction", sa.Column("revision", string(32), primary_key=True))
