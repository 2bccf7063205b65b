# SPDX-License-Identifier: Apache-2.0
"""How heatconv logs; the options themselves are oslo.log's."""

from __future__ import annotations

import logging

from oslo_config import cfg
from oslo_log import formatters, log

CONTEXT_FORMAT = (
    "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [%(request_id)s %(project_id)s] %(message)s"
)

# At INFO these speak of their own inner life, once for each message or connection.
QUIET = ("alembic", "eventlet", "kombu", "oslo_concurrency", "oslo_db", "oslo_service", "waitress")

# A request that waits for a thread is nothing to warn of.
SILENT = ("waitress.queue",)


def set_defaults() -> None:
    """Give oslo.log's options our defaults; the sample configuration shows them too."""
    levels = [*log.get_default_log_levels()]
    levels += [f"{name}=WARN" for name in QUIET] + [f"{name}=ERROR" for name in SILENT]
    log.set_defaults(logging_context_format_string=CONTEXT_FORMAT, default_log_levels=levels)


class Formatter(formatters.ContextFormatter):
    """Says what the message says.

    oslo.log would add the error that is being handled meanwhile to a warning,
    with whatever secret a plugin or a service has put into it.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: str = super().format(record)
        added = getattr(record, "error_summary", "")
        return line.removesuffix(f": {added}") if added and not record.exc_info else line


def say_no_more(conf: cfg.ConfigOpts, project: str, version: str) -> None:
    """Let what oslo.log has set up log by our ``Formatter``."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, formatters.ContextFormatter):
            handler.setFormatter(
                Formatter(project=project, version=version, datefmt=conf.log_date_format, config=conf)
            )
