# SPDX-License-Identifier: Apache-2.0
"""Callers with a token of Keystone's.

``keystonemiddleware`` holds the token against Keystone, in front of the
application, and tells in headers whose it is; here they are read.  A request
that it would refuse goes on without them: some addresses need no token, and the
application answers in one form.
"""

from __future__ import annotations

from typing import Any

import falcon
import webob
import webob.exc
from keystonemiddleware import auth_token
from oslo_config import cfg

from heatconv import errors
from heatconv.crypto import Keyring
from heatconv.rpc import tokens
from heatconv.rpc.context import RequestContext

GROUP = "keystone_authtoken"

_UNANSWERED = "heatconv.keystone_unanswered"


class TokenCheck(auth_token.AuthProtocol):  # type: ignore[misc]  # it has no types
    """WSGI middleware: whose token a request has."""

    def __init__(self, app: Any, conf: cfg.ConfigOpts) -> None:
        super().__init__(app, {"oslo_config_config": conf})

    def process_request(self, request: webob.Request) -> None:
        """Put into headers whose token it is; they tell nothing of one that is missing or not valid."""
        if "X-Auth-Token" not in request.headers:
            request.remove_auth_headers()
            return
        try:
            super().process_request(request)
        except webob.exc.HTTPServiceUnavailable:
            request.environ[_UNANSWERED] = True
        except webob.exc.HTTPUnauthorized:
            return


def by_token(request: falcon.Request, _project: str) -> RequestContext:
    """Return the context of the caller that ``TokenCheck`` found; see ``heatconv.api.auth``.

    Raises:
        falcon.HTTPUnauthorized: there is none.
        falcon.HTTPServiceUnavailable: Keystone did not say.
        Forbidden: the token is for a domain, or for nothing.
    """
    if _UNANSWERED in request.env:
        raise falcon.HTTPServiceUnavailable(description="Keystone did not answer; try again later.")
    if request.get_header("X-Identity-Status") != "Confirmed":
        raise falcon.HTTPUnauthorized(
            description="Send a token in the header X-Auth-Token: it is missing, not valid, or has expired."
        )
    project = request.get_header("X-Project-Id")
    if not project and request.get_header("OpenStack-System-Scope") != "all":
        raise errors.Forbidden("Your token is for no project; get one that is scoped to a project.")
    return RequestContext(
        project_id=project or "",
        project_domain_id=request.get_header("X-Project-Domain-Id"),
        user_id=request.get_header("X-User-Id"),
        user_name=request.get_header("X-User-Name"),
        user_domain_id=request.get_header("X-User-Domain-Id"),
        roles=tuple((request.get_header("X-Roles") or "").split(",")),
        is_admin_project=request.get_header("X-Is-Admin-Project") != "False",
        request_id=request.context.request_id,
    )


class Forwarding:
    """Strategy as ``by_token``, which has engines act by a caller's token in the project it is for."""

    def __init__(self, keyring: Keyring) -> None:
        """Take what the tokens are sealed with on their way."""
        self._keyring = keyring

    def __call__(self, request: falcon.Request, project: str) -> RequestContext:
        """See ``by_token``."""
        context = by_token(request, project)
        if context.project_id != project:
            return context
        return tokens.carrying(context, request.get_header("X-Auth-Token") or "", self._keyring)


def check(conf: cfg.ConfigOpts) -> None:
    """Refuse a configuration that cannot work.

    Raises:
        Misconfigured: with the option that is missing.
    """
    for group, options in auth_token.list_opts():
        conf.register_opts(options, group=group)
    for name in ("www_authenticate_uri", "auth_type"):
        if not conf[GROUP][name]:
            raise errors.Misconfigured(f"[auth] strategy is keystone: set [{GROUP}] {name}, too.")
