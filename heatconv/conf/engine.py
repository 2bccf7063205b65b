# SPDX-License-Identifier: Apache-2.0
"""The [engine] group: how much one heatconv-engine does at a time."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "engine"

OPTS = [
    cfg.IntOpt("workers", default=1, min=1, help="Number of processes that heatconv-engine runs."),
    cfg.IntOpt("threads", default=16, min=1, help="Number of requests each of them handles at a time."),
]
