# SPDX-License-Identifier: Apache-2.0
"""How heatconv logs; the options themselves are oslo.log's."""

from __future__ import annotations

from oslo_log import log

CONTEXT_FORMAT = (
    "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [%(request_id)s %(project_id)s] %(message)s"
)

# At INFO these speak of their own inner life, once for each message or connection.
QUIET = ("alembic", "cheroot", "eventlet", "kombu", "oslo_concurrency", "oslo_db", "oslo_service")


def set_defaults() -> None:
    """Give oslo.log's options our defaults; the sample configuration shows them too."""
    levels = [*log.get_default_log_levels(), *(f"{name}=WARN" for name in QUIET)]
    log.set_defaults(logging_context_format_string=CONTEXT_FORMAT, default_log_levels=levels)
