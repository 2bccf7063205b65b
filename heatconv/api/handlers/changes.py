# SPDX-License-Identifier: Apache-2.0
"""Changes: what is new in a stack, and in all that is nested in it, since a client looked."""

from __future__ import annotations

from heatconv.api import views
from heatconv.api.call import Answer, Call, Stack
from heatconv.api.contract import takes
from heatconv.api.query import NESTED, SINCE
from heatconv.api.schemas import changes as schemas


@takes(query=schemas.LIST, no_other_query=True, of_tree=True, of_project=True)
def index(call: Call, stack: Stack) -> Answer:
    """Tell what is new; who has a cursor may wait for it."""
    limit = min(call.query["limit"] or schemas.MOST, schemas.MOST)
    since, nested = call.query[SINCE], call.query[NESTED]
    row = call.engine.list_changes(call.context, stack.id, since, limit, nested=nested)
    return Answer({"changes": views.changes(call, row)}, has_news=row["news"])
