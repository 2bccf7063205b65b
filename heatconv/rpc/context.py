# SPDX-License-Identifier: Apache-2.0
"""Who asks: the request context that travels with every call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from oslo_context import context as oslo_context


@dataclass(frozen=True, kw_only=True)
class RequestContext:
    """The caller of a request, as the API authenticated it.  It holds no token and no password."""

    project_id: str  #: in which the caller acts: everything that is read or made is this project's
    project_domain_id: str | None = None
    user_id: str | None = None
    user_name: str | None = None
    user_domain_id: str | None = None
    roles: tuple[str, ...] = ()
    is_admin: bool = False  #: may act in any project
    request_id: str = field(default_factory=oslo_context.generate_request_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the context as plain JSON data."""
        return asdict(self) | {"roles": list(self.roles)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RequestContext:
        """Return the context that ``to_dict`` made ``data`` of; the bus adds keys of its own."""
        known = {each.name: data[each.name] for each in fields(cls) if each.name in data}
        return cls(**{**known, "roles": tuple(data.get("roles", ()))})
