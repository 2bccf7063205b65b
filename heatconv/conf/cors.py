# SPDX-License-Identifier: Apache-2.0
"""What a browser may do with the REST API once its origin is allowed; the options are oslo.middleware's."""

from __future__ import annotations

from oslo_config import cfg
from oslo_middleware import cors

_HEADERS = ["X-Auth-Token", "X-Openstack-Request-Id"]


def set_defaults() -> None:
    """Give the options of CORS our defaults; the sample configuration shows them too."""
    cors.set_defaults(
        allow_headers=[*_HEADERS, "Authorization"],
        expose_headers=_HEADERS,
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
    )


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options, with our defaults."""
    set_defaults()
    conf.register_opts(cors.CORS_OPTS, "cors")
