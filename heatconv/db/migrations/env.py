# SPDX-License-Identifier: Apache-2.0
"""How alembic runs here: on a connection that ``heatconv.db.plumbing.migration`` hands in."""

from __future__ import annotations

from alembic import context

from heatconv.db import tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
