# SPDX-License-Identifier: Apache-2.0
"""The composition of the API: a WSGI application of an engine client.

A request passes, in this order: the request id, the route, authentication, the
proof that a stack's name and id belong together, the handler; an error met
anywhere goes to ``faults``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import falcon
from oslo_config import cfg
from oslo_context import context as oslo_context

from heatconv import errors
from heatconv.api import auth, faults, routes
from heatconv.api.call import Answer, Call, Handler
from heatconv.api.handlers import versions
from heatconv.api.identities import Identities
from heatconv.rpc.engine_client import EngineClient

App = falcon.App[falcon.Request, falcon.Response]

#: A version of the API that is not there.
_OTHER_VERSION = re.compile(r"/v(?!1(\.0)?(/|$))[0-9.]+(/|$)")


def application(
    engine: EngineClient, conf: cfg.ConfigOpts, authenticate: auth.Strategy = auth.no_auth
) -> App:
    """Return the WSGI application that serves the API of an engine."""
    app = falcon.App(middleware=[RequestId()])
    app.req_options.strip_url_path_trailing_slash = True
    app.req_options.keep_blank_qs_values = False
    faults.install(app)
    identities = Identities()
    for version in routes.VERSIONS:
        for url, handlers in routes.ROUTES.items():
            endpoint = Endpoint(engine, authenticate, conf.api.max_json_body_size, handlers, identities)
            app.add_route(f"{version}/{{project}}{url}", endpoint)
    for url in ("/", "/versions", *routes.VERSIONS):
        app.add_route(url, VersionsDocument())
    app.add_sink(versions.show, _OTHER_VERSION)
    return app


class RequestId:
    """Give each request an id of its own, and tell the client."""

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        """Make up the id and put it on the response, whatever that will be."""
        request.context.request_id = oslo_context.generate_request_id()
        response.set_header("X-Openstack-Request-Id", request.context.request_id)


class VersionsDocument:
    """The URLs that tell which versions there are."""

    on_get = staticmethod(versions.show)


class Endpoint:
    """One row of the table of routes, as the framework wants it: an ``on_*`` for each method."""

    def __init__(
        self,
        engine: EngineClient,
        authenticate: auth.Strategy,
        max_body_size: int,
        handlers: Mapping[str, Handler],
        identities: Identities,
    ) -> None:
        self._engine = engine
        self._authenticate = authenticate
        self._max_body_size = max_body_size
        self._handlers = handlers
        self._identities = identities
        for method in handlers:
            setattr(self, f"on_{method.lower()}", self._respond)

    def on_options(self, _request: falcon.Request, response: falcon.Response, **_fields: str) -> None:
        """Tell which methods there are."""
        response.status = HTTPStatus.NO_CONTENT
        response.set_header("Allow", ", ".join(self._handlers))

    def _respond(
        self, request: falcon.Request, response: falcon.Response, *, project: str, **fields: str
    ) -> None:
        if "\0" in request.path or "%00" in request.query_string:
            raise errors.BadRequest("The URL has a NUL character in it.")
        call = Call(
            engine=self._engine,
            context=self._authenticate(request, project),
            request=request,
            max_body_size=self._max_body_size,
        )
        handler = self._handlers[request.method]
        _send(response, handler(call, **self._located(call, fields)))

    def _located(self, call: Call, fields: dict[str, str]) -> dict[str, Any]:
        """Return the fields of a URL with the stack's name and id as one thing, known to exist."""
        if "stack_id" not in fields or "arn_id" in fields:
            return dict(fields)
        name, stack_id = fields.pop("stack_name"), fields.pop("stack_id")
        return {"stack": self._identities.prove(call, name, stack_id), **fields}


def _send(response: falcon.Response, answer: Answer) -> None:
    response.status = answer.status
    for name, value in answer.headers.items():
        response.set_header(name, value)
    if answer.status != HTTPStatus.NO_CONTENT:
        # Not ``media``: that would leave out the body of an answer that is null.
        response.content_type = falcon.MEDIA_JSON
        response.text = json.dumps(answer.body)
