# SPDX-License-Identifier: Apache-2.0
"""Who may do what with plans.

Whoever plans an action, or applies a plan of it, has to satisfy the rule of that action as well: what
is planned is held against stored values, and whoever applies a plan does what it is of.
"""

from __future__ import annotations

from heatconv.api.policies.base import MEMBER, READER, rule

_STACK = "/stacks/{stack_name}/{stack_id}"
_PLAN = "/plans/{plan_id}"

RULES = [
    rule(
        "plans:create",
        MEMBER,
        "Plan an action; the rule of that has to be satisfied as well.",
        "POST /plans",
        f"POST {_STACK}/plans",
    ),
    rule("plans:index", READER, "List plans.", "GET /plans", f"GET {_STACK}/plans"),
    rule("plans:show", READER, "Show a plan.", f"GET {_PLAN}", f"GET {_STACK}{_PLAN}"),
    rule("plans:delete", MEMBER, "Forget a plan.", f"DELETE {_PLAN}", f"DELETE {_STACK}{_PLAN}"),
    rule(
        "plans:apply",
        MEMBER,
        "Apply a plan; the rule of what it does has to be satisfied as well.",
        f"POST {_PLAN}/apply",
        f"POST {_STACK}{_PLAN}/apply",
    ),
]
