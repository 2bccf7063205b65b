# SPDX-License-Identifier: Apache-2.0
"""The [event_sinks] group: where events may be delivered to, and how."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "event_sinks"

OPTS = [
    cfg.ListOpt(
        "webhook_allow",
        default=[],
        help="Below which URLs the targets of webhooks may be, such as https://hooks.example.org/heat. "
        "Scheme, host and port have to be the same; the path has to be the same or inside of it. Without "
        "any, stacks with webhooks are refused.",
    ),
    cfg.StrOpt(
        "webhook_secret",
        secret=True,
        help="What webhooks are signed with whose environment has no secret for them; without it these are "
        "not signed.",
    ),
    cfg.FloatOpt(
        "webhook_timeout",
        default=10,
        min=0.1,
        max=300,
        help="Seconds that the delivery of one event to a webhook may take, connecting and answer included.",
    ),
    cfg.BoolOpt(
        "notify_all",
        default=False,
        help="Publish the events of all stacks as notifications, whatever their environments say. Needs "
        "[oslo_messaging_notifications] driver.",
    ),
    cfg.StrOpt(
        "publisher_id",
        help="Who publishes notifications. Without it: orchestration.HOST.",
    ),
    cfg.FloatOpt(
        "tick",
        default=1,
        min=0.1,
        help="Seconds between two looks of an engine for events that are to be delivered.",
    ),
    cfg.IntOpt(
        "threads",
        default=8,
        min=1,
        help="Number of sinks that an engine delivers to at a time.",
    ),
]
