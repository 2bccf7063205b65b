# SPDX-License-Identifier: Apache-2.0
"""What the rules are made of: who somebody is, whatever is asked for."""

from __future__ import annotations

from oslo_policy import policy

BELOW = "/v1/{project}"  #: where all routes are

ADMIN = "rule:context_is_admin"
ADMIN_OR_SERVICE = "rule:context_is_admin or role:service"
READER = "rule:project_reader"
MEMBER = "rule:project_member"
READER_OR_STACK_USER = "rule:project_reader or rule:project_stack_user"
MEMBER_OR_STACK_USER = "rule:project_member or rule:project_stack_user"
NOBODY = "rule:deny_everybody"

RULES = [
    policy.RuleDefault(
        "context_is_admin",
        "role:admin and is_admin_project:True",
        "Whoever may act in every project, and ask about the service: an administrator, and where Keystone"
        " names a project that administrators are of, one of that project.",
    ),
    policy.RuleDefault(
        "project_admin", "role:admin and project_id:%(project_id)s", "An administrator in its own project."
    ),
    policy.RuleDefault(
        "project_member",
        "rule:context_is_admin or (role:member and project_id:%(project_id)s)",
        "Whoever may change what a project has.",
    ),
    policy.RuleDefault(
        "project_reader",
        "rule:context_is_admin or (role:reader and project_id:%(project_id)s)",
        "Whoever may see what a project has.",
    ),
    policy.RuleDefault(
        "project_stack_user",
        "role:heat_stack_user and project_id:%(project_id)s",
        "What a stack made: a server that reports, an alarm that goes off.",
    ),
    policy.RuleDefault("deny_stack_user", "not role:heat_stack_user", "Anybody but what a stack made."),
    policy.RuleDefault("deny_everybody", "!", "Nobody."),
    policy.RuleDefault("allow_everybody", "", "Everybody who is known at all."),
]


def rule(name: str, who: str, description: str, *operations: str) -> policy.DocumentedRuleDefault:
    """Return a rule for some operations, such as ``GET /stacks``, or ``GET POST /stacks`` for two."""
    documented: list[policy.Operation] = []
    for operation in operations:
        *methods, url = operation.split()
        documented += [{"path": BELOW + url, "method": method} for method in methods]
    return policy.DocumentedRuleDefault(name, who, description, documented)
