# SPDX-License-Identifier: Apache-2.0
"""The [plans] group: how many plans are kept, and for how long."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "plans"

OPTS = [
    cfg.FloatOpt(
        "keep_for",
        default=86400,
        min=1,
        help="Seconds that a plan can be shown and applied; after that it is forgotten.",
    ),
    cfg.IntOpt(
        "max_per_project",
        default=256,
        min=-1,
        help="Number of plans a project may have at a time; -1 is no limit.",
    ),
]
