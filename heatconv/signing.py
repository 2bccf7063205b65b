# SPDX-License-Identifier: Apache-2.0
"""URLs that are their own permission: whoever has one may signal one resource.

What is signed is the path, which names the resource and its project, and the
moment until which it counts.  A URL says nothing of the key it was signed with.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import string
import time
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from heatconv import errors
from heatconv.model.ids import made_at
from heatconv.model.secrets import HIDDEN

_LENGTH = 43  #: characters of a signature
_ALPHABET = frozenset(string.ascii_letters + string.digits + "-_")
_EQUALS = ("=", "%3D", "%3d", "%253D", "%253d")  #: what is before one in a URL, and in one that is quoted


class Signer:
    """Signs URLs of the signal route, and knows its own again; safe between threads."""

    def __init__(
        self, secret: bytes, endpoint: str, old_secrets: Sequence[bytes] = (), *, lifetime: int = 0
    ) -> None:
        """Sign with ``secret`` what is at ``endpoint``, such as ``https://heat.example.org:8004``.

        What was signed with one of ``old_secrets`` still counts.  A URL counts for
        ``lifetime`` seconds from when its resource was made; 0: as long as that is there.
        """
        self._lifetime = lifetime
        self._secrets = (secret, *old_secrets)
        self._endpoint = endpoint.rstrip("/")

    def signal_url(
        self,
        project: str,
        stack_name: str,
        stack_id: str,
        resource_name: str,
        expires: int | None = None,
    ) -> str:
        """Return a URL to which anybody may POST signals for a resource; the same one for the same arguments.

        Args:
            project: the id of the stack's project.
            stack_name: of the stack that has the resource.
            stack_id: of that stack.
            resource_name: the id of the resource's row, so that the URL counts no longer than that is
                there; or its name in the template, for whatever has the name.
            expires: seconds since the epoch from which on it is refused; never, if None.
        """
        segments = ("v1", project, "stacks", stack_name, stack_id, "resources", resource_name, "signal")
        moment = "" if expires is None else str(expires)
        query = {"expires": moment} if moment else {}
        query["signature"] = _signature(self._secrets[0], "/" + "/".join(segments), moment)
        path = "/".join(quote(segment, safe="") for segment in segments)
        return f"{self._endpoint}/{path}?{urlencode(query)}"

    def verify(self, path: str, query: Mapping[str, str]) -> None:
        """Let through a request for a URL that ``signal_url`` made.

        Args:
            path: the URL's path below the endpoint, unquoted.
            query: the query string's parameters; others than ours do not matter.

        Raises:
            Forbidden: it was signed otherwise, or has expired.
        """
        expires = query.get("expires", "")
        given = query.get("signature", "").encode()
        ours = [_signature(secret, path, expires).encode() for secret in self._secrets]
        if not any(hmac.compare_digest(given, each) for each in ours):
            raise errors.Forbidden("This URL is not signed as it is: use it as it was given to you.")
        if self._end(path, expires) <= time.time():
            raise errors.Forbidden("This URL has expired: get a new one from whoever gave it to you.")

    def _end(self, path: str, expires: str) -> float:
        """Return the moment from which on a URL does not count any more."""
        if expires:
            return int(expires)
        if not self._lifetime:
            return math.inf
        made = made_at(path.split("/")[-2])
        # By its name nobody can tell which resource it was signed for.
        return 0 if made is None else made + self._lifetime


def without_signatures(text: str) -> str:
    """Return a text in which no URL for signals can be used."""
    before, *after = text.split("signature")
    return "".join([before, *("signature" + _hidden(each) for each in after)])


def _hidden(text: str) -> str:
    """Return what comes after the word, without the signature that it begins with, if it does."""
    equals = next((each for each in _EQUALS if text.startswith(each)), None)
    if equals is None:
        return text
    rest = text[len(equals) :]
    if len(rest) < _LENGTH or not _ALPHABET.issuperset(rest[:_LENGTH]):
        return text
    return equals + HIDDEN + rest[_LENGTH:]


def _signature(secret: bytes, path: str, expires: str) -> str:
    signed = json.dumps(["POST", path, expires]).encode()
    return base64.urlsafe_b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode().rstrip("=")
