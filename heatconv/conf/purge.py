# SPDX-License-Identifier: Apache-2.0
"""The [purge] group: how long deleted stacks stay, and how often engines look for what may go."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "purge"

OPTS = [
    cfg.IntOpt(
        "deleted_stacks_after",
        default=0,
        min=0,
        max=36500,
        help="Days that a stack is still shown to who asks for deleted ones; after that an engine drops it, "
        "with its events and all else that is left of it, and it is as if it had never been. 0 keeps deleted "
        "stacks until 'heatconv-manage purge_deleted' is called. The same for all engines.",
    ),
    cfg.FloatOpt(
        "interval",
        default=600,
        min=1,
        help="Seconds from the end of one purge to the next, of whichever engine. Whatever the days above, "
        "a purge drops what belongs to nothing any more: plans that have ended, templates that no stack goes "
        "back to, events beyond max_events_per_stack, daemons that have been dead for a day.",
    ),
]
