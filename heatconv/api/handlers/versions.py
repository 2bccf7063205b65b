# SPDX-License-Identifier: Apache-2.0
"""The versions document: what a client that names no version of the API gets."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import falcon


def show(req: falcon.Request, resp: falcon.Response, **_fields: Any) -> None:
    """Answer with every version of the API and where it is."""
    version = {
        "id": "v1.0",
        "status": "CURRENT",
        "links": [{"rel": "self", "href": f"{req.context.base}/v1/"}],
    }
    resp.status = HTTPStatus.MULTIPLE_CHOICES
    resp.media = {"versions": [version]}
