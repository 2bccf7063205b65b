# SPDX-License-Identifier: Apache-2.0
"""Who asks: the request context that travels with every call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Any

from oslo_context import context as oslo_context


@dataclass(frozen=True, kw_only=True)
class RequestContext:
    """The caller of a request, as the API authenticated it.  What it holds of a token is sealed."""

    project_id: str  #: in which the caller acts: everything that is read or made is this project's
    project_domain_id: str | None = None
    user_id: str | None = None
    user_name: str | None = None
    user_domain_id: str | None = None
    roles: tuple[str, ...] = ()
    is_admin: bool = False  #: may act in any project
    is_admin_project: bool = True  #: is in the project that administrators are of, if there is such a one
    refused_types: tuple[str, ...] | None = None  #: resource types it may not use; None: nobody has asked
    request_id: str = field(default_factory=oslo_context.generate_request_id)
    token: str | None = field(default=None, repr=False)  #: sealed, see ``heatconv.rpc.tokens``

    def to_dict(self) -> dict[str, Any]:
        """Return the context as plain JSON data."""
        return {**vars(self), "roles": list(self.roles)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RequestContext:
        """Return the context that ``to_dict`` made ``data`` of; the bus adds keys of its own."""
        known = {name: data[name] for name in _NAMES if name in data}
        refused = known.get("refused_types")
        changes = {
            "roles": tuple(data.get("roles", ())),
            "refused_types": None if refused is None else tuple(refused),
        }
        return cls(**{**known, **changes})


_NAMES = tuple(each.name for each in fields(RequestContext))

_SERVED: ContextVar[RequestContext | None] = ContextVar("served", default=None)


@contextmanager
def serving(context: RequestContext) -> Iterator[None]:
    """Let what this thread does be done for a request."""
    token = _SERVED.set(context)
    try:
        yield
    finally:
        _SERVED.reset(token)


def served() -> RequestContext | None:
    """Return the request that this thread serves, if it does serve one."""
    return _SERVED.get()
