# SPDX-License-Identifier: Apache-2.0
"""What a handler is given and what it gives back.

Knows the request as data; which handler gets it is ``routes``' business, and
what becomes of an error is ``faults``'.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import falcon
from oslo_config import cfg

from heatconv.api import body
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient, Json


@dataclass(frozen=True)
class Stack:
    """The stack that a URL names."""

    name: str
    id: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """One authenticated request.

    ``query`` and ``body`` are what the handler's contract declares, see
    ``heatconv.api.contract``.
    """

    engine: EngineClient
    context: RequestContext
    request: falcon.Request
    conf: cfg.ConfigOpts
    may: Callable[[str], bool]  #: whether the policy lets the caller do what a rule is for
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Json = field(default_factory=dict)

    @cached_property
    def sent(self) -> Json:
        """The body as it was sent; whether the handler takes it is not yet known.

        Raises:
            UserError: it is no JSON object, or too large.
        """
        return body.read(self.request, self.conf.api.max_json_body_size)

    @cached_property
    def posted(self) -> Json:
        """The body as it was sent, of any type, or nothing if it is no JSON object.

        Raises:
            UserError: it is too large, or was meant to be one.
        """
        return body.read_if_object(self.request, self.conf.api.max_json_body_size)

    def url(self, *segments: str, project: str | None = None) -> str:
        """Return the URL of something in a project, the caller's unless another is named."""
        within = project or self.context.project_id
        path = "/".join(quote(segment, safe="") for segment in (within, *segments))
        return f"{self.request.context.base}/v1/{path}"

    def stack_url(self, stack: Stack, *segments: str) -> str:
        """Return the canonical URL of a stack, or of something below it."""
        return self.url("stacks", stack.name, stack.id, *segments)


@dataclass(frozen=True)
class Answer:
    """A response: JSON, a status and headers."""

    body: Any = None
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)
    made: Stack | None = None  #: the stack that there is by the request
    has_news: bool = True  #: whether it says anything that the client has not told us that it knows

    @cached_property
    def text(self) -> str:
        """The body as it is sent; made once, for all whom the answer is given to."""
        return json.dumps(self.body)


Handler = Callable[..., Answer]


def notice(status: HTTPStatus, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer that has nothing to say beyond its status."""
    body = {"code": f"{status.value} {status.phrase}", "title": status.phrase, "message": ""}
    return Answer(body, status, headers or {})


NO_CONTENT = Answer(status=HTTPStatus.NO_CONTENT)
