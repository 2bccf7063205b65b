# SPDX-License-Identifier: Apache-2.0
"""What every request passes on its way to the application, and its answer on the way back."""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from oslo_config import cfg
from oslo_middleware import CORS, Healthcheck, HTTPProxyToWSGI, RequestId

HEALTHCHECK = "/healthcheck"


def around(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """Return an application inside what goes on around it.

    From the outside in: the health check, which nobody has to authenticate for;
    the request's id, so that every answer has one; CORS, because a browser asks
    before it sends a token; what a proxy says of where the request came from,
    before any URL is made of that; the token.
    """
    if conf.auth.strategy == "keystone":
        from heatconv.api import tokens  # noqa: PLC0415 - slow, and for nothing without Keystone

        app = tokens.TokenCheck(app, conf)
    served = RequestId(CORS(HTTPProxyToWSGI(app, conf), conf), conf)
    healthcheck = RequestId(Healthcheck(app, conf), conf)

    def choose(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        chosen = healthcheck if environ.get("PATH_INFO") == HEALTHCHECK else served
        answer: Iterable[bytes] = chosen(environ, start_response)
        return answer

    return choose
