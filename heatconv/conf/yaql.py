# SPDX-License-Identifier: Apache-2.0
"""The [yaql] group: what one query in a template may do."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "yaql"

OPTS = [
    cfg.IntOpt(
        "limit_iterators",
        default=200,
        min=1,
        help="Number of items that any collection in a query may have. A query may call 100 times as many "
        "functions.",
    ),
    cfg.IntOpt(
        "memory_quota",
        default=10000,
        min=1,
        help="Size in bytes that any value in a query may have.",
    ),
]
