# SPDX-License-Identifier: Apache-2.0
"""What a stack's user has delegated to this installation, so that it can act when the user is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Delegation:
    """A right to act as a user in a project, for one root stack and all that is nested in it."""

    id: str  #: by which it is found again in Keystone
    stack_id: str
    project_id: str
    user_id: str
    method: str  #: as ``deferred_auth_method`` has it
    secret: Mapping[str, Any] = field(default_factory=dict, repr=False)  #: empty until it is known
