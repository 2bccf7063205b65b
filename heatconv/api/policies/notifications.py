# SPDX-License-Identifier: Apache-2.0
"""Who may tell that something has happened to things."""

from __future__ import annotations

from heatconv.api.policies.base import ADMIN_OR_SERVICE, rule

RULES = [
    rule(
        "notifications:create",
        ADMIN_OR_SERVICE,
        "Have things of the project looked at that something has happened to.",
        "POST /notifications",
    ),
    rule(
        "notifications:global_create",
        ADMIN_OR_SERVICE,
        "Have things of all projects looked at.",
        "POST /notifications",
    ),
]
