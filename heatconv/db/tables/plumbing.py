# SPDX-License-Identifier: Apache-2.0
"""The table of what must not be done twice."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import Sealed, Time, Uuid
from heatconv.db.tables.declaring import table

# Requests that were carried out, and what was answered; for as long as they may be asked again.
request = table(
    "request",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("answer", Sealed, nullable=False),
    sa.Column("created_at", Time, nullable=False, index=True),
)
