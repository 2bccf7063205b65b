# SPDX-License-Identifier: Apache-2.0
"""What a handler is given and what it gives back.

Knows the request as data; which handler gets it is ``routes``' business, and
what becomes of an error is ``faults``'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import falcon

from heatconv.api import body
from heatconv.api.query import Query
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient, Json


@dataclass(frozen=True)
class Stack:
    """The stack that a URL names."""

    name: str
    id: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """One authenticated request."""

    engine: EngineClient
    context: RequestContext
    request: falcon.Request
    max_body_size: int

    @cached_property
    def query(self) -> Query:
        """The query string."""
        return Query(self.request.params)

    def json(self, schema: Mapping[str, Any]) -> Json:
        """Return the body, which obeys ``schema``.

        Raises:
            UserError: it does not, or is no JSON object.
        """
        return body.checked(body.read(self.request, self.max_body_size), schema)

    def url(self, *segments: str) -> str:
        """Return the URL of something in the caller's project."""
        path = "/".join(quote(segment, safe="") for segment in (self.context.project_id, *segments))
        return f"{self.request.prefix}/v1/{path}"

    def stack_url(self, stack: Stack, *segments: str) -> str:
        """Return the canonical URL of a stack, or of something below it."""
        return self.url("stacks", stack.name, stack.id, *segments)


@dataclass(frozen=True)
class Answer:
    """A response: JSON, a status and headers."""

    body: Any = None
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[..., Answer]


def notice(status: HTTPStatus, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer that has nothing to say beyond its status."""
    body = {"code": f"{status.value} {status.phrase}", "title": status.phrase, "message": ""}
    return Answer(body, status, headers or {})


NO_CONTENT = Answer(status=HTTPStatus.NO_CONTENT)
