# SPDX-License-Identifier: Apache-2.0
"""Who may see what happened."""

from __future__ import annotations

from heatconv.api.policies.base import READER, rule

_STACK = "/stacks/{stack_name}/{stack_id}"
_OF_RESOURCE = _STACK + "/resources/{resource_name}/events"

RULES = [
    rule("events:index", READER, "List events.", f"GET {_STACK}/events", f"GET {_OF_RESOURCE}"),
    rule("events:show", READER, "Show an event.", f"GET {_OF_RESOURCE}/{{event_id}}"),
]
