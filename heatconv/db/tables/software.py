# SPDX-License-Identifier: Apache-2.0
"""Tables of what runs in servers."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import LongText, Sealed, Time, Uuid, string
from heatconv.db.tables.declaring import table

# What is to be run on servers, and its runs.
software_config = table(
    "software_config",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("project_id", string(64), nullable=False),
    sa.Column("name", string(255)),
    sa.Column("group", string(255)),
    sa.Column("config", Sealed, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index(None, "project_id", "created_at", "id"),
    row=("project_id", "id"),
)

software_deployment = table(
    "software_deployment",
    sa.Column("id", Uuid, primary_key=True),
    sa.Column("project_id", string(64), nullable=False, index=True),
    sa.Column("stack_user_project_id", string(64), index=True),
    sa.Column("server_id", string(255), index=True),
    sa.Column("config_id", Uuid, nullable=False, index=True),
    sa.Column("input_values", Sealed),
    sa.Column("output_values", Sealed),
    sa.Column("action", string(16)),
    sa.Column("status", string(16)),
    sa.Column("status_reason", LongText),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time),
    row=("project_id", "id"),
)
