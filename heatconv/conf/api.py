# SPDX-License-Identifier: Apache-2.0
"""The [api] group: where REST is served, and how."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "api"

OPTS = [
    cfg.HostAddressOpt(
        "host",
        default="127.0.0.1",
        help="Address to listen on. The default is for this machine only; 0.0.0.0 is every interface.",
    ),
    cfg.PortOpt("port", default=8004, help="Port to listen on; 0 takes a free one."),
    cfg.URIOpt(
        "public_endpoint",
        schemes=["http", "https"],
        help="URL at which those outside reach the API, without '/v1': what signed URLs for signals begin "
        "with. By default it is made of host and port.",
    ),
    cfg.IntOpt("workers", default=1, min=1, help="Number of processes that heatconv-api runs."),
    cfg.IntOpt("threads", default=16, min=1, help="Number of requests each of them serves at a time."),
    cfg.IntOpt(
        "max_json_body_size",
        default=1048576,
        min=1,
        help="Largest request body, in bytes. Keep it above max_template_size.",
    ),
]
