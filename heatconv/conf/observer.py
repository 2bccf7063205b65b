# SPDX-License-Identifier: Apache-2.0
"""The [observer] group: how what is really there is compared with what was made."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "observer"

OPTS = [
    cfg.StrOpt(
        "policy",
        default="off",
        choices=[
            ("off", "nothing is looked at unless a user asks for it"),
            ("detect", "what has drifted is told"),
            ("heal", "what has drifted is made as it was wanted again"),
        ],
        help="What is done about stacks whose own policy does not say.",
    ),
    cfg.FloatOpt(
        "interval",
        default=300,
        min=1,
        help="Seconds in which every resource of a stack is looked at once, unless the stack's policy says "
        "how many.",
    ),
    cfg.FloatOpt(
        "tick",
        default=1,
        min=0.1,
        help="Seconds between two looks of an engine for stacks whose turn it is.",
    ),
    cfg.IntOpt(
        "portion",
        default=500,
        min=1,
        help="Number of resources of one stack that are looked at in one go; a larger stack has its portions "
        "spread over the interval.",
    ),
    cfg.IntOpt(
        "max_heals_per_hour",
        default=12,
        min=0,
        help="How often a stack is healed within an hour.",
    ),
    cfg.IntOpt(
        "max_heals_per_resource",
        default=3,
        min=1,
        help="How often a resource is healed within an hour; when it drifts once more it is left alone until "
        "a user updates or converges the stack.",
    ),
    cfg.IntOpt(
        "heal_percent",
        default=100,
        min=1,
        max=100,
        help="How much of a stack, or of a group, is healed at a time, in percent of its resources; at least "
        "one is.",
    ),
    cfg.ListOpt(
        "notification_topics",
        default=[],
        help="Topics on which services publish what happens to their things, such as notifications, "
        "versioned_notifications; what they tell of is looked at soon. Nothing is listened to if there are "
        "none. The broker is that of [oslo_messaging_notifications] transport_url.",
    ),
    cfg.ListOpt(
        "notification_exchanges",
        default=["nova", "neutron", "cinder", "openstack"],
        help="Exchanges of these topics: each service's own control_exchange.",
    ),
    cfg.StrOpt(
        "notification_pool",
        default="heatconv",
        help="Name of the queue that all engines share, so that each notification is heard by one of them. "
        "Installations that hear the same services have pools of their own.",
    ),
]
