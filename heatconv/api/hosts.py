# SPDX-License-Identifier: Apache-2.0
"""By which names the API is known, and who a browser may ask for.

A browser sends a request wherever a page of somebody else tells it to, and calls
our address by any name that its owner gives to it.  What keeps others out is a
token, which no browser sends by itself; a password it does send, and without a
login there is nothing to send.  There the origin of a page, and without a login the
name too by which we are asked, have to be known.

The links in answers begin with a known name, whatever name a request has.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

import falcon
from oslo_config import cfg

from heatconv import errors


@dataclass(frozen=True, kw_only=True)
class Hosts:
    """The names of an API, and what is asked of those who use them."""

    names: frozenset[str]
    origins: frozenset[str] = frozenset()  #: of other sites, whose pages may ask
    public: str | None = None  #: what the links in answers begin with for whoever used no known name
    checks_origin: bool = False
    checks_host: bool = False

    @classmethod
    def of(cls, conf: cfg.ConfigOpts) -> Self:
        """Return what is configured; the options of CORS are registered."""
        public = conf.api.public_endpoint
        names = {name.lower() for name in (*conf.api.allowed_hosts, str(conf.api.host))}
        if public:
            names.add(urlsplit(public).hostname or "")
        return cls(
            names=frozenset(names),
            origins=frozenset(origin.lower() for origin in conf.cors.allowed_origin or ()),
            public=public and public.rstrip("/"),
            checks_origin=conf.auth.strategy != "keystone",
            checks_host=conf.auth.strategy == "noauth",
        )

    def process_request(self, request: falcon.Request, _response: falcon.Response) -> None:
        """Note what the links of the answer begin with.

        Raises:
            Forbidden: the request may come from a page of somebody else.
        """
        host = request.env.get("HTTP_HOST") or _netloc(request)
        known = self.is_known(host, request)
        if self.checks_host and not known:
            raise errors.Forbidden(
                f"This API is not known as '{host[:100]}'. Its operator can name it in [api] allowed_hosts."
            )
        origin = request.env.get("HTTP_ORIGIN")
        if self.checks_origin and origin and not self._may_ask(origin, host, known=known):
            raise errors.Forbidden(
                f"A page of '{origin[:100]}' may not use this API. Its operator can allow it in [cors] "
                "allowed_origin."
            )
        if known:
            request.context.base = f"{request.scheme}://{host}{request.root_path}"
        else:
            request.context.base = self.public or f"{request.scheme}://{_netloc(request)}{request.root_path}"

    def is_known(self, host: str, request: falcon.Request) -> bool:
        """Tell whether the name in a ``Host`` is one of the API's."""
        try:
            parts = urlsplit(f"//{host}")
            name, _port = parts.hostname, parts.port
        except ValueError:
            return False
        if name is None or parts.netloc != host or "@" in host:
            return False
        own = _ip(request.env.get("SERVER_NAME", ""))  # where the request arrived, if the server tells
        address = _ip(name)
        if address is None:
            return name == "localhost" or name in self.names
        return address.is_loopback or address == own or any(address == _ip(each) for each in self.names)

    def _may_ask(self, origin: str, host: str, *, known: bool) -> bool:
        if origin.lower() in self.origins or "*" in self.origins:
            return True
        return known and origin.lower().partition("://")[2] == host.lower()


def _netloc(request: falcon.Request) -> str:
    """Return where a request arrived, as a URL has it."""
    name, port = request.env["SERVER_NAME"], request.env["SERVER_PORT"]
    usual = {"http": "80", "https": "443"}.get(request.scheme)
    name = f"[{name}]" if ":" in name else name
    return name if port == usual else f"{name}:{port}"


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def network(address: str) -> str:
    """Return what one client has of addresses: the address, or, of IPv6, its network of 64 bits."""
    ip = _ip(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip or address)
