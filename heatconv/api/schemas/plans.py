# SPDX-License-Identifier: Apache-2.0
"""Plans: bodies that ask for one, and which of them a list shows."""

from __future__ import annotations

from heatconv.api.query import Keys, number, text
from heatconv.api.schemas import Schema
from heatconv.api.schemas import stacks as schemas
from heatconv.model.saved_plan import PAGE

ACTIONS = ("update", "rollback", "delete")
ALLOWED = ("update", "replace")

_OF_PLAN: Schema = {
    "refresh": {
        **schemas.TRUTH,
        "description": "true or false; true has what the plan touches looked at first",
    },
    "allow": {
        "type": ["array", "null"],
        "items": {"enum": list(ALLOWED), "description": f"one of {', '.join(ALLOWED)}"},
        "description": "a list of what may be done to resources of the plan where it was not foreseen",
    },
}

CREATION: Schema = {**schemas.CREATE, "properties": {**schemas.CREATE["properties"], **_OF_PLAN}}

PLAN: Schema = {
    "type": "object",
    "properties": {
        **schemas.PATCH["properties"],
        **_OF_PLAN,
        "action": {"enum": [*ACTIONS, None], "description": f"one of {', '.join(ACTIONS)}"},
        "existing": {
            **schemas.TRUTH,
            "description": "true or false; true has what the body lacks stay as it is, as PATCH does",
        },
    },
}

SHOW: Keys = {
    "limit": number("How many of the plan's resources there are on a page; all of them if 0 or not given."),
    "marker": number("How many resources there were on the pages before."),
}

LIST: Keys = {
    "limit": number(f"How many plans there are on a page, at most {PAGE}; so many if 0 or not given."),
    "marker": text("The id of the plan after which the page starts."),
}
