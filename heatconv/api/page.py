# SPDX-License-Identifier: Apache-2.0
"""The live page: static files, served to whoever asks; what they show is asked of the API as anybody asks.

Nothing of it comes from another host, and a browser is told to let nothing in that does: whatever a user can
put into a stack is a text there, never a program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib import resources
from pathlib import PurePath
from typing import Self

import falcon
from oslo_config import cfg

URL = "/ui"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": falcon.MEDIA_JSON,
    ".svg": "image/svg+xml",
}

#: By the value of ``[auth] strategy``, how the page has its user log in.
_LOGINS = {"noauth": "none", "http_basic": "basic", "keystone": "keystone"}

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",  # for browsers that do not know of frame-ancestors
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # a browser asks whether a file is the same still: it may be upgraded
}


@dataclass(frozen=True)
class File:
    """One file of the page."""

    data: bytes
    type: str

    @property
    def tag(self) -> falcon.ETag:
        """Tells it from what it was in another release."""
        return falcon.ETag(hashlib.sha1(self.data, usedforsecurity=False).hexdigest())


class Page:
    """Serves the files of the page, which are read once."""

    def __init__(self, files: Mapping[str, File]) -> None:
        """Take the files by their names."""
        self._files = {name: (file, file.tag) for name, file in files.items()}

    @classmethod
    def of(cls, conf: cfg.ConfigOpts) -> Self:
        """Return the page of an API that is configured so."""
        found = resources.files("heatconv.api").joinpath("ui").iterdir()
        files = {each.name: File(each.read_bytes(), _TYPES[PurePath(each.name).suffix]) for each in found}
        known = {"login": _LOGINS[conf.auth.strategy], "console": conf.api.console}
        settings = json.dumps(known).encode()
        return cls({**files, "settings.json": File(settings, falcon.MEDIA_JSON)})

    def on_get(self, request: falcon.Request, response: falcon.Response, name: str = "index.html") -> None:
        """Answer with a file; what is asked for without the last slash is led there.

        Raises:
            falcon.HTTPNotFound: there is none of that name.
        """
        response.set_headers(HEADERS)
        if request.uri_template == URL and not request.env.get("PATH_INFO", "").endswith("/"):
            # The names in it are relative to where it is, which may be below something of a proxy's.
            response.status = HTTPStatus.MOVED_PERMANENTLY
            response.set_header("Location", URL.strip("/") + "/")
            return
        if name not in self._files:
            raise falcon.HTTPNotFound
        file, tag = self._files[name]
        response.etag = tag
        if any(known in ("*", tag) for known in request.if_none_match or ()):
            response.status = HTTPStatus.NOT_MODIFIED
            return
        response.content_type = file.type
        response.data = file.data
