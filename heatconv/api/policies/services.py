# SPDX-License-Identifier: Apache-2.0
"""Who may ask about the service itself."""

from __future__ import annotations

from heatconv.api.policies.base import ADMIN, READER, rule

RULES = [
    rule("build_info:build_info", READER, "Show which builds answer.", "GET /build_info"),
    rule(
        "permissions:index",
        READER,
        "See which of these rules let one do what they are for.",
        "GET /permissions",
    ),
    rule("service:index", ADMIN, "List the daemons.", "GET /services"),
    rule("service:work", ADMIN, "See how much there is to do in all projects.", "GET /services/work"),
]
