# SPDX-License-Identifier: Apache-2.0
"""Who asks: a strategy makes the context of a request.

A strategy is a function of the request and the project in its URL; it returns
the context of a caller in the caller's *own* project, and raises
``falcon.HTTPUnauthorized`` for one it does not know.  Whether the caller may act
in the project of the URL is ``policy``'s to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import falcon
import webob.exc
from oslo_config import cfg
from oslo_middleware import basic_auth

from heatconv import errors
from heatconv.api.hosts import network
from heatconv.api.passwords import Passwords, TooManyGuesses
from heatconv.crypto import Keyring
from heatconv.resources import stack_users
from heatconv.rpc.context import RequestContext
from heatconv.signing import Signer

Strategy = Callable[[falcon.Request, str], RequestContext]

#: What a role stands for, as Keystone has it.
_IMPLIED = {"admin": ("admin", "member", "reader"), "member": ("member", "reader")}


def strategy(conf: cfg.ConfigOpts, keyring: Keyring | None = None) -> Strategy:
    """Return the strategy that is configured.

    Args:
        conf: the configuration.
        keyring: what callers' tokens are sealed with, if engines are to act by them.

    Raises:
        Misconfigured: it cannot work as it is configured.
    """
    if conf.auth.strategy == "keystone":
        from heatconv.api import tokens  # noqa: PLC0415 - slow, and for nothing without Keystone

        tokens.check(conf)
        return tokens.Forwarding(keyring) if keyring and conf.openstack_resources else tokens.by_token
    if keyring and conf.openstack_resources:
        raise errors.Misconfigured(
            reason="openstack_resources is for users who log in to the cloud: set [auth] strategy = keystone."
        )
    if conf.auth.strategy == "http_basic":
        return HttpBasic(conf.auth.http_basic_user_file, conf.auth.http_basic_roles)
    return no_auth


def no_auth(request: falcon.Request, project: str) -> RequestContext:
    """Trust the caller: whoever names a project is its administrator."""
    return RequestContext(project_id=project, roles=_IMPLIED["admin"], request_id=request.context.request_id)


class HttpBasic:
    """Asks for a user name and a password, and holds them against a file."""

    def __init__(self, user_file: str, roles: Mapping[str, str]) -> None:
        """Take a file of names and bcrypt hashes, and the role of each user that is no plain member.

        Raises:
            Misconfigured: the file cannot be read, or has another kind of hash.
        """
        self._passwords = Passwords(user_file)
        self._roles = roles

    def __call__(self, request: falcon.Request, _project: str) -> RequestContext:
        """See the module; ``alice@web`` is a user of project ``web``, ``alice`` one of ``alice``."""
        name = self._checked_name(request)
        role = self._roles.get(name, "member")
        return RequestContext(
            project_id=name.rpartition("@")[2],
            user_id=name,
            user_name=name,
            roles=_IMPLIED.get(role, (role,)),
            request_id=request.context.request_id,
        )

    def _checked_name(self, request: falcon.Request) -> str:
        refused = falcon.HTTPUnauthorized(
            description="Give the name and the password of a user: they are missing, or wrong.",
            challenges=['Basic realm="heatconv", charset="UTF-8"'],
        )
        try:
            name, password = basic_auth.parse_token(basic_auth.parse_header(request.env))
        except webob.exc.HTTPException:
            raise refused from None
        try:
            right = self._passwords.are_right(name, password, address_of(request))
        except TooManyGuesses as slow:
            raise too_many(slow) from None
        if not right:
            raise refused
        return name


def address_of(request: falcon.Request) -> str:
    """Return what stands for where a request came from: an address, or a network."""
    # A proxy puts the address that it sees behind those that a client may have made up.
    return network(request.remote_addr.rpartition(",")[2].strip())


def too_many(slow: TooManyGuesses) -> falcon.HTTPTooManyRequests:
    """Return the answer to one guess too many."""
    seconds = math.ceil(slow.seconds)
    return falcon.HTTPTooManyRequests(
        description=f"There were too many wrong passwords. Try again in {seconds} s.", retry_after=seconds
    )


class SignedSignals:
    """Lets in whoever signals with a URL that was signed for it, and leaves the others to a strategy."""

    def __init__(self, signer: Signer, strategy: Strategy) -> None:
        """Take who may have signed, and the strategy for what nobody has."""
        self._signer = signer
        self._strategy = strategy

    def __call__(self, request: falcon.Request, project: str) -> RequestContext:
        """See the module.

        Raises:
            Forbidden: the URL is signed, but not by us, or not for now.
        """
        if not _is_signed(request):
            return self._strategy(request, project)
        query = {key: request.get_param(key) or "" for key in ("expires", "signature")}
        self._signer.verify(request.path, query)
        return RequestContext(
            project_id=project, roles=(stack_users.ROLE,), request_id=request.context.request_id
        )


def _is_signed(request: falcon.Request) -> bool:
    return (
        request.method in ("POST", "PUT")
        and request.path.endswith("/signal")
        and request.has_param("signature")
    )
