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
        "with, and the links in answers for clients that use no name of allowed_hosts. By default it is made "
        "of host and port.",
    ),
    cfg.IntOpt(
        "signal_url_lifetime",
        default=0,
        min=0,
        help="Seconds from when a resource was made in which the signed URL counts that anybody who knows it "
        "can signal the resource with; 0: as long as the resource is there. Deployments of software and "
        "scaling policies are signalled as long as they are there.",
    ),
    cfg.ListOpt(
        "allowed_hosts",
        default=[],
        help="Names by which clients reach the API, such as 'heat.example.org', besides localhost, host, the "
        "address that a connection is made to, and the name in public_endpoint. The links in answers begin "
        "with the name that a client used if it is one of these, else with public_endpoint or that address. "
        "Without a login (strategy noauth), requests by another name are refused.",
    ),
    cfg.BoolOpt(
        "page",
        default=True,
        help="Whether to serve the live page at /ui/: files that anybody may have, by which whoever logs in "
        "uses the API in a browser.",
    ),
    cfg.URIOpt(
        "console",
        schemes=["http", "https"],
        help="URL of the cloud's console, if it is OpenStack's dashboard (Horizon), such as "
        "'https://cloud.example.org/dashboard'. The live page then offers a link to the place there of each "
        "server, volume, network, subnet, port, router, security group and nested stack. Anybody who reaches "
        "the page can read it.",
    ),
    cfg.IntOpt("workers", default=1, min=1, help="Number of processes that heatconv-api runs."),
    cfg.IntOpt("threads", default=16, min=1, help="Number of requests each of them serves at a time."),
    cfg.FloatOpt(
        "request_timeout",
        default=60,
        min=0.1,
        help="Seconds that a client may take to send a whole request, else it is answered 408; to receive an "
        "answer; and to keep a connection on which nothing happens.",
    ),
    cfg.IntOpt(
        "max_connections",
        default=512,
        min=1,
        help="Number of connections to each process. Beyond it, the address with the most connections loses "
        "one. Keep it below half of the number of files that the process may open.",
    ),
    cfg.IntOpt(
        "max_connections_per_address",
        default=128,
        min=0,
        help="Number of connections from one address (from a network of 64 bits, if IPv6) to each process. "
        "Beyond it, one is closed that has had no complete request for the longest time. 0: as many as "
        "max_connections; for where a proxy stands before the API and bounds its clients itself.",
    ),
    cfg.IntOpt(
        "max_wait",
        default=60,
        min=0,
        help="Seconds that a request may ask to wait for a stack to change (wait in the query). Keep it "
        "below the time after which a proxy gives up. 0: nobody waits.",
    ),
    cfg.IntOpt(
        "max_waiting",
        default=256,
        min=0,
        help="Number of requests to each process that wait for a stack to change; a request beyond it is "
        "answered at once. None of them holds a thread, but each has a connection: of those of an address "
        "(max_connections_per_address), and of all, no more than half wait.",
    ),
    cfg.FloatOpt(
        "watch_interval",
        default=0.5,
        min=0.05,
        help="Seconds from one look whether the stacks have changed that requests wait for, to the next. "
        "While any request waits, each process asks an engine once, for all of them.",
    ),
    cfg.IntOpt(
        "max_json_body_size",
        default=1048576,
        min=1,
        help="Largest request body, in bytes. Keep it above max_template_size.",
    ),
]
