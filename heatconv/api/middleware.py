# SPDX-License-Identifier: Apache-2.0
"""What every request passes on its way to the application, and its answer on the way back."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from oslo_config import cfg
from oslo_context import context as oslo_context
from oslo_middleware import CORS, Healthcheck, HTTPProxyToWSGI
from oslo_middleware.request_id import ENV_REQUEST_ID, HTTP_RESP_HEADER_REQUEST_ID

from heatconv.api.watch import HOLD, Hold
from heatconv.metrics import instruments
from heatconv.metrics.declared import API_REQUESTS, API_SECONDS

HEALTHCHECK = "/healthcheck"
ROUTE = "heatconv.route"  #: where in a request's environment the template of its URL is, once it is known

_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


def around(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """Return an application inside what goes on around it.

    From the outside in: the request's id, so that every answer has one; the health check, which
    nobody has to authenticate for; CORS, because a browser asks before it sends a token; what a
    proxy says of where the request came from, before any URL is made of that; the token.

    What has nothing to do for a request is not on its way: each of oslo.middleware's parts makes
    objects of the whole request, and of its answer.
    """
    if conf.auth.strategy == "keystone":
        from heatconv.api import tokens  # noqa: PLC0415 - slow, and for nothing without Keystone

        app = tokens.TokenCheck(app, conf)
    healthcheck = Healthcheck(app, conf)
    proxied = HTTPProxyToWSGI(app, conf)
    served = proxied if conf.oslo_middleware.enable_proxy_headers_parsing else app
    for_browsers = CORS(served, conf)

    def choose(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        chosen: WSGIApplication = served
        if environ.get("PATH_INFO") == HEALTHCHECK:
            chosen = healthcheck
        elif "HTTP_ORIGIN" in environ or environ["REQUEST_METHOD"] == "OPTIONS":
            chosen = for_browsers
        answer: Iterable[bytes] = chosen(environ, start_response)
        return answer

    return identified(counted(choose) if instruments.is_on() else choose)


def identified(app: WSGIApplication) -> WSGIApplication:
    """Return an application whose requests have an id, which the answers tell."""

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request_id = oslo_context.generate_request_id()
        environ[ENV_REQUEST_ID] = request_id

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [*headers, (HTTP_RESP_HEADER_REQUEST_ID, request_id)], *error)

        return app(environ, start)

    return serve


def counted(app: WSGIApplication) -> WSGIApplication:
    """Return an application whose answers are counted, by their routes; what is held is no answer yet."""

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        began = time.perf_counter()
        method = environ["REQUEST_METHOD"] if environ["REQUEST_METHOD"] in _METHODS else "other"
        hold: Hold | None = environ.get(HOLD)

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            if hold is None or not hold.is_begun:
                route = environ.get(ROUTE) or "other"
                API_REQUESTS.add(method=method, route=route, status=f"{status[0]}xx")
                API_SECONDS.observe(time.perf_counter() - began, method=method, route=route)
            return start_response(status, headers, *error)

        return app(environ, start)

    return serve
