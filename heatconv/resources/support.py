# SPDX-License-Identifier: Apache-2.0
"""How far a type, a property or an attribute is supported, and since when."""

from __future__ import annotations

from typing import Any

from heatconv.resources import exception

SUPPORT_STATUSES = (UNKNOWN, SUPPORTED, DEPRECATED, UNSUPPORTED, HIDDEN) = (
    "UNKNOWN",
    "SUPPORTED",
    "DEPRECATED",
    "UNSUPPORTED",
    "HIDDEN",
)


class SupportStatus:
    """A support status; ``previous_status`` tells what was true before it."""

    def __init__(
        self,
        status: str = SUPPORTED,
        message: str | None = None,
        version: str | None = None,
        previous_status: SupportStatus | None = None,
        substitute_class: type | None = None,
    ) -> None:
        if status not in SUPPORT_STATUSES:
            raise exception.InvalidSchemaError(
                message=f'"{status}" is not a support status; use one of {", ".join(SUPPORT_STATUSES)}'
            )
        self.status = status
        self.message = message
        self.version = version
        self.previous_status = previous_status
        self.substitute_class = substitute_class

    def to_dict(self) -> dict[str, Any]:
        """Return the status as ``/resource_types/{type}`` shows it."""
        previous = self.previous_status
        return {
            "status": self.status,
            "message": self.message,
            "version": self.version,
            "previous_status": previous.to_dict() if previous else None,
        }

    def is_substituted(self, substitute_class: type) -> bool:
        """Tell whether resources of the type may turn into ``substitute_class`` without replacement."""
        return self.substitute_class is substitute_class
