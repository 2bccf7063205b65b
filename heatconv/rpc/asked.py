# SPDX-License-Identifier: Apache-2.0
"""What a call says of the request that it is about: the same request may be asked several times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_KEY = "asked"


@dataclass(frozen=True)
class Asked:
    """What a call is known by, in its context."""

    id: str  #: of the request: the same each time that it is asked
    at: float  #: when it was asked, in seconds since the epoch by the caller's clock
    number: int  #: how many times it has been asked, this one included

    @classmethod
    def among(cls, context: Mapping[str, Any]) -> Asked | None:
        """Return what the context of a call has of it."""
        said = context.get(_KEY)
        return cls(said["id"], said["at"], said["number"]) if said else None  # whatever a later release adds

    def added_to(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """Return the context of a call that is known by this."""
        return {**context, _KEY: dict(vars(self))}
