# SPDX-License-Identifier: Apache-2.0
"""Who has an answer already hears that it still holds, by ``ETag`` and ``If-None-Match``.

The tag is made of the answer itself, so that whatever changes the answer changes the tag: a stack's
answer has outputs, drift and progress in it, which are written apart from the stack.
"""

from __future__ import annotations

import hashlib
from http import HTTPStatus

import falcon


def spare(request: falcon.Request, response: falcon.Response) -> None:
    """Give an answer its tag, and leave out what the client has already; for what only reads."""
    if request.method != "GET" or response.status_code != HTTPStatus.OK or not response.text:
        return
    # Not for security: it tells one answer from another.
    digest = hashlib.sha1(response.text.encode(), usedforsecurity=False).hexdigest()
    response.etag = tag = falcon.ETag(digest)
    # Whoever keeps it asks whether it holds, and keeps it for one user: a token is no part of the URL.
    response.cache_control = ["private", "no-cache"]
    if any(known in ("*", tag) for known in request.if_none_match or ()):
        leave_out(response)


def leave_out(response: falcon.Response) -> None:
    """Answer that the client has it already."""
    response.status = HTTPStatus.NOT_MODIFIED
    response.text = None
    response.delete_header("Content-Type")
