# SPDX-License-Identifier: Apache-2.0
"""The [worker] group: how much one heatconv-worker does at a time."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "worker"

OPTS = [
    cfg.IntOpt("workers", default=1, min=1, help="Number of processes that heatconv-worker runs."),
    cfg.IntOpt(
        "threads",
        default=64,
        min=1,
        help="Number of resources each of them acts on at a time. One that only waits for the real world "
        "takes no thread. Eight more are kept for stacks that have nothing under way in it.",
    ),
]
