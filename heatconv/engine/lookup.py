# SPDX-License-Identifier: Apache-2.0
"""Which stack, and which of its rows, a reader means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from heatconv import errors
from heatconv.db.convergence import stacks
from heatconv.db.plumbing.session import Database
from heatconv.model.records import Listed, ResourceRow, Stack
from heatconv.rpc.context import RequestContext

Row = TypeVar("Row", Listed, ResourceRow)


def find(database: Database, context: RequestContext, stack: str) -> Stack:
    """Return a stack of the caller's project, by name or, deleted or not, by id.

    Raises:
        NotFound: there is none.
    """
    found = stacks.find(database, context.project_id, stack)
    if found is None:
        raise errors.NotFound(entity="Stack", name=stack)
    return found


def first_of_each_name(rows: Iterable[Row]) -> list[Row]:
    """Return one row of each name in a stack: the first, which is the wanted one if there is one."""
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        first.setdefault((row.stack_id, row.name), row)
    return list(first.values())
