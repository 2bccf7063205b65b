# SPDX-License-Identifier: Apache-2.0
"""Options of the [DEFAULT] group: who makes users for resources, and in which domain; Heat's names."""

from __future__ import annotations

from oslo_config import cfg

GROUP = None  #: oslo.config's name for it

OPTS = [
    cfg.StrOpt(
        "stack_user_domain_id",
        help="Id of the Keystone domain for users that single resources have, such as a server that asks for "
        "its configuration. It is to have nothing else in it.",
    ),
    cfg.StrOpt(
        "stack_user_domain_name",
        help="Name of that domain, if no id is given. Without either, resources that need such a user are "
        "refused, and signals come to signed URLs.",
    ),
    cfg.StrOpt(
        "stack_domain_admin",
        help="Name of a user of that domain who has the role admin in it: it makes the others.",
    ),
    cfg.StrOpt("stack_domain_admin_password", secret=True, help="Password of stack_domain_admin."),
]
