# SPDX-License-Identifier: Apache-2.0
"""The tables as a database has them, for tests that compare rows, or put them back."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.plumbing.types import LongText, SealedText


def on_disk(table: sa.Table) -> sa.TableClause:
    """Return a table whose sealed values are the texts that they are on disk."""
    return sa.table(
        table.name,
        *(
            sa.column(column.name, LongText if isinstance(column.type, SealedText) else column.type)
            for column in table.c
        ),
    )
