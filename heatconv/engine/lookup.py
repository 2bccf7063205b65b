# SPDX-License-Identifier: Apache-2.0
"""Which stack, and which of its rows, somebody means who asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from heatconv import errors
from heatconv.db.convergence import nested, stacks
from heatconv.db.plumbing.session import Database
from heatconv.model.permission import check_types
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


def find_living(database: Database, context: RequestContext, stack: str) -> Stack:
    """Return a living stack of the caller's project, by name or id.

    Raises:
        NotFound: there is none.
    """
    found = find(database, context, stack)
    if found.deleted_at is not None:
        raise errors.NotFound(entity="Stack", name=stack)
    return found


def find_to_change(database: Database, context: RequestContext, stack: str) -> Stack:
    """Return what ``find_living`` does, if the caller may use every type that there is in it and below.

    Raises:
        Forbidden: it is not the caller's to change.
        NotFound: there is none.
    """
    found = find_living(database, context, stack)
    if context.refused_types:
        check_types(nested.types_in_tree(database, found.root_id), context.refused_types)
    return found


def changed(known: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return the fingerprints of those things that have another than is known; "" if one is gone."""
    return {each: now.get(each, "") for each, was in known.items() if now.get(each, "") != was}


def first_of_each_name(rows: Iterable[Row]) -> list[Row]:
    """Return one row of each name in a stack: the first, which is the wanted one if there is one."""
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        first.setdefault((row.stack_id, row.name), row)
    return list(first.values())
