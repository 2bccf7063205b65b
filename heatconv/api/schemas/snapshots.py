# SPDX-License-Identifier: Apache-2.0
"""Snapshots: the body that makes one."""

from __future__ import annotations

from heatconv.api.schemas import Schema

CREATE: Schema = {
    "type": "object",
    "properties": {
        "name": {
            "type": ["string", "null"],
            "maxLength": 255,
            "description": "a string of at most 255 characters",
        }
    },
}
