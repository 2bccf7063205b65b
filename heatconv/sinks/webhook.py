# SPDX-License-Identifier: Apache-2.0
"""Events by HTTP: each is a POST of JSON, signed, to a URL that the operator allows.

No redirect is followed, nothing of the answer but its status counts, and
whatever the other side does, it is over within the operator's timeout.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from heatconv import errors
from heatconv.model.records import Event, Stack
from heatconv.model.secrets import HIDDEN
from heatconv.sinks.addresses import Address, is_allowed
from heatconv.sinks.contract import body

MOST = 65536  #: bytes of an answer that are read, so that the connection can be used again


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the operator says of all webhooks."""

    allow: tuple[Address, ...] = ()
    secret: str | None = None  #: what is signed with if a sink has no secret of its own
    timeout: float = 10.0  #: seconds that a POST may take

    @classmethod
    def of(cls, allow: list[str], secret: str | None, timeout: float) -> Rules:
        """Return the rules of some options.

        Raises:
            Misconfigured: one of ``allow`` is no URL.
        """
        addresses = []
        for url in allow:
            try:
                address = Address.of(url)
            except ValueError as error:
                raise errors.Misconfigured(
                    reason=f"[event_sinks] webhook_allow: {url} is no URL to compare with: {error}."
                ) from None
            if address.query:
                raise errors.Misconfigured(
                    reason=f"[event_sinks] webhook_allow: {url} may have no query, which is not compared."
                )
            addresses.append(address)
        return cls(allow=tuple(addresses), secret=secret or None, timeout=timeout)


class Webhook:
    """Posts events to one URL."""

    def __init__(self, rules: Rules, /, **keys: Any) -> None:
        """Take the keys of an environment's sink, less the type.

        Raises:
            Invalid: they are wrong, or the operator does not allow the target.
        """
        self._rules = rules
        self._address = _target(keys.pop("target", None), rules)
        secret = keys.pop("secret", None)
        if secret is not None and not (isinstance(secret, str) and secret):
            raise errors.Invalid(problems=[("secret", "It has to be a text, and not empty.")])
        if secret == HIDDEN:
            reason = "It is what is shown in place of a secret; give the secret itself, or leave it out."
            raise errors.Invalid(problems=[("secret", reason)])
        if keys:
            raise errors.Invalid(problems=[("", "A webhook has the keys type, target and secret, no other.")])
        self._secret = secret or rules.secret
        self._connection: http.client.HTTPConnection | None = None

    def send(self, _stack: Stack, event: Event) -> None:
        """Post an event.

        Raises:
            NotDelivered: the answer was not a success, or there was none in time.
        """
        data = json.dumps(body(event)).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "heatconv",
            "X-Heatconv-Delivery": event.uuid,
        }
        if self._secret is not None:
            headers["X-Heatconv-Signature"] = signature(self._secret, data, int(time.time()))
        try:
            status = self._post(data, headers)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.close()
            reason = str(error) or type(error).__name__
            raise errors.NotDelivered(reason=f"{self._address.origin}: {reason}") from error
        if not 200 <= status < 300:
            raise errors.NotDelivered(reason=f"{self._address.origin} answered {status}")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _post(self, data: bytes, headers: Mapping[str, str]) -> int:
        connection = self._connection = self._connection or self._connect()
        query = f"?{self._address.query}" if self._address.query else ""
        with _at_most(self._rules.timeout, connection):
            connection.request("POST", self._address.path + query, data, dict(headers))
            response = connection.getresponse()
            response.read(MOST)
        if not response.isclosed():
            self.close()  # what is left of the answer is not ours to wait for
        return response.status

    def _connect(self) -> http.client.HTTPConnection:
        secure = self._address.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(self._address.host, self._address.port, timeout=self._rules.timeout)


def signature(secret: str, data: bytes, moment: int) -> str:
    """Return what lets a receiver tell that a body is ours, and not an old one."""
    signed = hmac.new(secret.encode(), b"%d." % moment + data, hashlib.sha256).hexdigest()
    return f"t={moment},v1={signed}"


def _target(target: Any, rules: Rules) -> Address:
    if not isinstance(target, str):
        raise errors.Invalid(problems=[("target", "It has to be the URL to post to.")])
    try:
        address = Address.of(target)
    except ValueError as error:
        raise errors.Invalid(problems=[("target", f"It is no URL to post to: {error}.")]) from None
    if not is_allowed(address, rules.allow):
        reason = (
            f"Webhooks to {address.origin} with this path are not allowed:"
            " the operator lists in [event_sinks] webhook_allow where they may go."
        )
        raise errors.Invalid(problems=[("target", reason)])
    return address


@contextmanager
def _at_most(seconds: float, connection: http.client.HTTPConnection) -> Iterator[None]:
    """Cut a connection if the block takes longer: a socket's own timeout begins anew with each byte.

    Raises:
        TimeoutError: it did; what was read by then may look like an answer.
    """
    over = threading.Event()

    def cut() -> None:
        over.set()
        if isinstance(connection.sock, socket.socket):
            with suppress(OSError):
                # Not its own, if it is encrypted: that would take away what the other thread reads from.
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if over.is_set():
        raise TimeoutError(f"there was no answer within {seconds:g} s")
