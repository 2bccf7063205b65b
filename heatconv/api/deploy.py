# SPDX-License-Identifier: Apache-2.0
"""The composition of the API: a WSGI application of an engine client.

A request passes, in this order: what ``middleware`` puts around the application,
``hosts``, the route, authentication, the policy, the proof that a stack's name and id belong
together, the handler; an error met anywhere from the route on goes to ``faults``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any
from wsgiref.types import WSGIApplication

import falcon
from oslo_config import cfg
from oslo_context import context as oslo_context
from oslo_middleware.request_id import ENV_REQUEST_ID

from heatconv import errors
from heatconv.api import auth, faults, middleware, openapi, page, routes, unchanged
from heatconv.api.call import Answer, Call, Handler
from heatconv.api.contract import contract_of
from heatconv.api.handlers import versions
from heatconv.api.hosts import Hosts
from heatconv.api.identities import Identities
from heatconv.api.policy import Policy, access, names_types
from heatconv.api.sharing import Shared
from heatconv.api.watch import RECENT, Watch
from heatconv.conf import cors
from heatconv.rpc.engine_client import EngineClient
from heatconv.signing import Signer, without_signatures

#: A version of the API that is not there.
_OTHER_VERSION = re.compile(r"/v(?!1(\.0)?(/|$))[0-9.]+(/|$)")

#: What is below a stack that is told by its identifier; a template of a URL cannot say "and so on".
_BELOW_ARN = re.compile(
    r"/v1(\.0)?/(?P<project>[^/]+)/stacks/(?P<stack_name>arn:[^/]+)/(?P<stack_id>[^/]+)/(?P<arn_id>[^/]+)/."
)


def application(
    engine: EngineClient,
    conf: cfg.ConfigOpts,
    strategy: auth.Strategy | None = None,
    signer: Signer | None = None,
) -> WSGIApplication:
    """Return the WSGI application that serves the API of an engine.

    Args:
        engine: the engines.
        conf: the configuration.
        strategy: by which callers say who they are; the configured one, if None.
        signer: of URLs for signals; without one, nobody gets in by such a URL.

    Raises:
        Misconfigured: the configured strategy cannot work.
    """
    cors.register(conf)
    app = falcon.App(middleware=[RequestId()])
    app.add_middleware(Hosts.of(conf))
    app.req_options.strip_url_path_trailing_slash = True
    app.req_options.keep_blank_qs_values = False
    faults.install(app)
    authenticate = strategy or auth.strategy(conf)
    parts = Parts(
        engine=engine,
        conf=conf,
        authenticate=auth.SignedSignals(signer, authenticate) if signer else authenticate,
        policy=Policy(conf),
        identities=Identities(),
        watch=Watch(engine, conf),
        shared=Shared(RECENT * conf.api.watch_interval),
    )
    for url, handlers in routes.ROUTES.items():
        endpoint = Endpoint(parts, url, handlers)
        for version in routes.VERSIONS:
            app.add_route(f"{version}/{{project}}{url}", endpoint)
        if url == routes.ARN:
            app.add_sink(endpoint.respond, _BELOW_ARN)
    for url in ("/", "/versions", *routes.VERSIONS):
        app.add_route(url, VersionsDocument())
    app.add_route(openapi.URL, openapi.Document())
    if conf.api.page:
        files = page.Page.of(conf)
        app.add_route(page.URL, files)
        app.add_route(f"{page.URL}/{{name}}", files)
        if conf.auth.strategy == "keystone":
            from heatconv.api import login  # noqa: PLC0415 - slow, and for nothing without Keystone

            app.add_route(login.URL, login.Login.of(conf))
    app.add_sink(versions.show, _OTHER_VERSION)
    return middleware.around(app, conf)


class RequestId:
    """Tell application and log the id of a request, and the middleware around them its route."""

    def process_resource(
        self, request: falcon.Request, _response: falcon.Response, _resource: object, _fields: object
    ) -> None:
        """Note the route where the middleware around the application looks for it."""
        request.env[middleware.ROUTE] = request.uri_template

    def process_request(self, request: falcon.Request, _response: falcon.Response) -> None:
        """Put the id where handlers, and this thread's log lines, look for it."""
        request.context.request_id = request.env[ENV_REQUEST_ID]
        oslo_context.RequestContext(request_id=request.context.request_id, overwrite=True)


class VersionsDocument:
    """The URLs that tell which versions there are."""

    on_get = staticmethod(versions.show)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What all endpoints have in common."""

    engine: EngineClient
    conf: cfg.ConfigOpts
    authenticate: auth.Strategy
    policy: Policy
    identities: Identities
    watch: Watch
    shared: Shared


class Endpoint:
    """One row of the table of routes, as the framework wants it: an ``on_*`` for each method."""

    def __init__(self, parts: Parts, url: str, handlers: Mapping[str, Handler]) -> None:
        self._parts = parts
        self._handlers = handlers
        self._access = {method: access(method, url) for method in handlers}
        self._names_types = {method for method in handlers if names_types(method, url)}
        for method in handlers:
            setattr(self, f"on_{method.lower()}", self._respond)

    def on_options(self, _request: falcon.Request, response: falcon.Response, **_fields: str) -> None:
        """Tell which methods there are."""
        response.status = HTTPStatus.NO_CONTENT
        response.set_header("Allow", ", ".join(self._handlers))

    def respond(self, req: falcon.Request, resp: falcon.Response, **kwargs: str) -> None:
        """Answer a request of any method.

        Raises:
            falcon.HTTPMethodNotAllowed: there is nothing for the method here.
        """
        if req.method not in self._handlers:
            raise falcon.HTTPMethodNotAllowed(list(self._handlers))
        self._respond(req, resp, **kwargs)

    def _respond(
        self, request: falcon.Request, response: falcon.Response, *, project: str, **fields: str
    ) -> None:
        if "\0" in request.path or "%00" in request.query_string:
            raise errors.BadRequest("The URL has a NUL character in it.")
        call = self._admitted(request, project)
        for rule in self._access[request.method].wanted(call, fields):
            self._parts.policy.enforce(rule, call.context)
        handler = self._handlers[request.method]
        located = self._located(call, fields)
        contract = contract_of(handler)
        wait = self._parts.watch.prepare(call, located.get("stack"), contract)
        read = partial(handler, call, **located)
        if wait is not None and contract.of_project:
            # The links in it begin as the caller's do; the fingerprint says from when on it may be.
            same = (project, request.context.base, request.relative_uri, wait.fingerprint)
            answer = self._parts.shared.get(same, read)
        else:
            answer = read()
        if answer.made is not None:
            self._parts.identities.note(call, answer.made)
        _send(response, answer)
        # Wherever a URL has got to that is a permission to signal: only who has that permission sees it.
        if response.text and "signature" in response.text and not call.may("resource:signal"):
            response.text = without_signatures(response.text)
        unchanged.spare(request, response)
        is_known = response.status_code == HTTPStatus.NOT_MODIFIED or not answer.has_news
        if wait is not None and is_known and self._parts.watch.try_keep(wait):
            unchanged.leave_out(response)  # a server keeps to itself only what has no body

    def _admitted(self, request: falcon.Request, project: str) -> Call:
        """Return the call of somebody who is known, and may act in a project."""
        context = self._parts.policy.admit(self._parts.authenticate(request, project), project)
        if context.refused_types is None and request.method in self._names_types:
            context = replace(context, refused_types=self._parts.policy.refused_types(context))
        oslo_context.RequestContext(
            request_id=context.request_id, project_id=project, user_id=context.user_id, overwrite=True
        )
        return Call(
            engine=self._parts.engine,
            context=context,
            request=request,
            conf=self._parts.conf,
            may=partial(self._parts.policy.allows, context=context),
        )

    def _located(self, call: Call, fields: dict[str, str]) -> dict[str, Any]:
        """Return the fields of a URL with the stack's name and id as one thing, known to exist."""
        if "stack_id" not in fields or "arn_id" in fields:
            return dict(fields)
        name, stack_id = fields.pop("stack_name"), fields.pop("stack_id")
        return {
            "stack": self._parts.identities.prove(call, name, stack_id, fields.get("resource_name")),
            **fields,
        }


def _send(response: falcon.Response, answer: Answer) -> None:
    response.status = answer.status
    for name, value in answer.headers.items():
        response.set_header(name, value)
    if answer.status != HTTPStatus.NO_CONTENT:
        # Not ``media``: that would leave out the body of an answer that is null.
        response.content_type = falcon.MEDIA_JSON
        response.text = answer.text
