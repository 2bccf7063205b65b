# SPDX-License-Identifier: Apache-2.0
"""What users filter lists by, as conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

#: From the values of which one has to fit, to a condition.
Condition = Callable[[Sequence[Any]], sa.ColumnElement[bool]]
Given = Mapping[str, Sequence[Any]]


def conditions(known: Mapping[str, Condition], given: Given | None) -> Iterator[sa.ColumnElement[bool]]:
    """Yield a condition for each filter given."""
    for name, values in (given or {}).items():
        yield known[name](values)


def in_status(table: sa.Table) -> Condition:
    """Return the condition of a row's status being one of some, which may have their action."""

    def condition(values: Sequence[str]) -> sa.ColumnElement[bool]:
        state = table.c.action + "_" + table.c.status
        return sa.or_(table.c.status.in_(values), state.in_(values))

    return condition
