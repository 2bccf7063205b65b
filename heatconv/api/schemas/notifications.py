# SPDX-License-Identifier: Apache-2.0
"""What somebody tells who knows that something has happened to things."""

from __future__ import annotations

from heatconv.api.query import Keys, flag
from heatconv.api.schemas import Schema

MOST = 1000  #: things in one request

NOTIFY: Keys = {
    "global_tenant": flag("Whether the things may be those of all projects; that takes the right to do so."),
}

CHANGED: Schema = {
    "type": "object",
    "properties": {
        "physical_ids": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST,
            "items": {
                "type": "string",
                "minLength": 1,
                "maxLength": 255,
                "description": "a string of at most 255 characters",
            },
            "description": f"a list of physical ids, 1 to {MOST} of them",
        }
    },
    "required": ["physical_ids"],
}
