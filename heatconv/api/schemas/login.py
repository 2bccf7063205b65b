# SPDX-License-Identifier: Apache-2.0
"""Logging in at Keystone: short texts, and nothing that says whom to ask."""

from __future__ import annotations

from heatconv.api.schemas import Schema

LARGEST = 8192  #: bytes of a body

_TEXT: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 255,
    "description": "a text of at most 255 characters",
}
_SECRET: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1024,
    "description": "a text of at most 1024 characters",
}


def _exactly(**texts: Schema) -> Schema:
    return {
        "type": "object",
        "properties": texts,
        "required": list(texts),
        "additionalProperties": False,
        "description": "a login by password, or by application credential",
    }


_BY_CREDENTIAL = _exactly(credential_id=_TEXT, credential_secret=_SECRET)
_BY_PASSWORD = _exactly(user=_TEXT, user_domain=_TEXT, password=_SECRET, project=_TEXT, project_domain=_TEXT)

#: By what is there: so that a refusal names the text that is missing or too long.
LOGIN: Schema = {
    "if": {"required": ["credential_id"]},
    "then": _BY_CREDENTIAL,
    "else": _BY_PASSWORD,
}
