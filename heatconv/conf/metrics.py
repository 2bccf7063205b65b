# SPDX-License-Identifier: Apache-2.0
"""The [metrics] group: where a daemon says how it is."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "metrics"

OPTS = [
    cfg.StrOpt(
        "listen",
        regex=r"^(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):[0-9]{1,5}$",
        help="HOST:PORT at which a daemon serves /metrics for Prometheus, /healthcheck (it runs) and "
        "/readiness (it can work), to anybody who can reach that address. Unset: nothing is counted, and "
        "nothing listens. Of several processes of a daemon ([worker] workers) the first has this port, the "
        "second the next, and so on. Daemons of one machine that share this file need an address each: the "
        "environment variable OS_METRICS__LISTEN wins over the file.",
    ),
]
