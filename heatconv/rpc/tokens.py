# SPDX-License-Identifier: Apache-2.0
"""The token of a caller on its way to an engine: sealed, and for that one request of that one caller."""

from __future__ import annotations

import json
from dataclasses import replace

from heatconv.crypto import Keyring
from heatconv.rpc.context import RequestContext


def carrying(context: RequestContext, token: str, keyring: Keyring) -> RequestContext:
    """Return the context of a request with the caller's token, sealed."""
    return replace(context, token=keyring.encrypt(token, _place(context)))


def carried(context: RequestContext, keyring: Keyring) -> str | None:
    """Return the token that came with a request, if one did.

    Raises:
        WrongKey: it was not sealed for this request of this caller.
    """
    return None if context.token is None else keyring.decrypt(context.token, _place(context))


def _place(context: RequestContext) -> bytes:
    return f"token {json.dumps([context.user_id, context.project_id, context.request_id])}".encode()
