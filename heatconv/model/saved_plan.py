# SPDX-License-Identifier: Apache-2.0
"""A plan as it is stored: what it says, and what it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

PAGE = 1000  #: resources of a plan that are stored, and shown, together; plans in a page of a list, at most


class PlanState(StrEnum):
    """What became of a plan; one whose time is over is not there any more."""

    READY = "ready"
    APPLIED = "applied"
    REFUSED = "refused"  #: something that it goes by had changed when it was to be applied


@dataclass(frozen=True, kw_only=True)
class SavedPlan:
    """A plan of a user's; plain JSON data."""

    id: str
    project_id: str
    user_id: str | None
    user_name: str | None
    stack_id: str | None  #: None: the stack is yet to be made
    stack_name: str
    action: str
    state: PlanState = PlanState.READY
    refusal: str | None = None  #: why it was refused when it was to be applied
    summary: Mapping[str, Any]
    contents: Mapping[str, Any] = field(default_factory=dict)  #: what it says; nothing in a list of plans
    asked: Mapping[str, Any] = field(default_factory=dict)  #: what it was made of; nothing in a list of plans
    created_at: datetime | None = None
    expires_at: datetime | None = None
