# SPDX-License-Identifier: Apache-2.0
"""Where webhooks may be sent to: only below what the operator has listed.

A server that posts wherever its users say can be pointed at what only it can
reach.  URLs are compared part by part, and one that two programs could read in
two ways is not allowed at all.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote_to_bytes, urlsplit

_PORTS = {"http": 80, "https": 443}
_IN_HOSTS = {*string.ascii_lowercase, *string.digits, *"-_.:"}
#: Quoted bytes that a path may have: what may not stand there by itself.  Servers differ in when they
#: read the others, and some read them twice.
_QUOTED = {*b' "<>^`{|}', *range(0x80, 0x100)}


@dataclass(frozen=True)
class Address:
    """A URL, in parts; the path is as it is to be asked for, with the query."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @classmethod
    def of(cls, url: str) -> Self:
        """Return the parts of an absolute http or https URL.

        Raises:
            ValueError: it is none, or it could be read in two ways.
        """
        if not url.isascii() or not url.isprintable() or any(each in url for each in ' \\"<>^`{|}'):
            raise ValueError("it has characters that a URL has to have quoted")
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("it has to begin with http:// or https:// and a host")
        if "@" in parts.netloc or "#" in url:
            raise ValueError("it may have neither a user nor a fragment")
        if not _IN_HOSTS.issuperset(parts.hostname):
            raise ValueError("its host has characters that no name of a host has")
        path = parts.path or "/"
        _check_path(path)
        return cls(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme], path, parts.query)

    @property
    def origin(self) -> str:
        """What may be told of it: the rest may be as good as a password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    def is_below(self, other: Address) -> bool:
        """Tell whether it is at, or below, the path of another at the same place."""
        if (self.scheme, self.host, self.port) != (other.scheme, other.host, other.port):
            return False
        prefix = other.path.rstrip("/")
        return self.path == prefix or self.path.startswith(f"{prefix}/")


def _check_path(path: str) -> None:
    """Refuse a path that some server may take for another.

    Raises:
        ValueError: with what is wrong.
    """
    quoted = {part[:2] for part in path.split("%")[1:]}
    if not all(len(each) == 2 and set(string.hexdigits).issuperset(each) for each in quoted):
        raise ValueError("its path has a % that quotes nothing")
    if not {int(each, 16) for each in quoted} <= _QUOTED:
        raise ValueError("its path quotes characters that need no quoting, or control characters")
    try:
        text = unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        raise ValueError("its path is not UTF-8") from None
    # Some programs take ever so many characters for the plain ones that they look like.
    steps = unicodedata.normalize("NFKC", text).replace("\\", "/").split("/")
    # What follows a semicolon in a step is a parameter, which some servers drop.
    if any(step.partition(";")[0].strip() in (".", "..") for step in steps):
        raise ValueError("its path may not have the steps . and ..")
    if "" in steps[1:-1] or any(step.startswith(";") for step in steps):
        raise ValueError("its path may not have empty steps")


def is_allowed(address: Address, allowed: Iterable[Address]) -> bool:
    """Tell whether a webhook may be sent to an address."""
    return any(address.is_below(each) for each in allowed)
