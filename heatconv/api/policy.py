# SPDX-License-Identifier: Apache-2.0
"""Whether a caller may: every request passes here, between its route and its handler.

Which rules a route has is documented in ``policies``; where it has several, what
the request asks for decides.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from oslo_config import cfg
from oslo_policy import policy as oslo_policy

from heatconv import errors
from heatconv.api import policies
from heatconv.api.call import Call
from heatconv.rpc.context import RequestContext

_STACK = "/stacks/{stack_name}/{stack_id}"


@dataclass(frozen=True)
class Access:
    """What it takes to use a route: one of these rules, all named like ``noun:verb``."""

    rules: Sequence[str]
    verb: Callable[[Call], str] | None = None  #: which of them, where there are several

    def rule(self, call: Call) -> str:
        """Return the rule that a request has to satisfy."""
        wanted = self.verb(call) if self.verb else ""
        # What has no rule is nothing that can be asked for: the handler says so.
        return next((rule for rule in self.rules if rule.endswith(f":{wanted}")), self.rules[0])


class Policy:
    """The rules in force: the defaults, and what the operator's files make of them.

    Concurrency: the rules are read anew, when a file has changed, in the middle
    of a check; so one check is made at a time.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._enforcer = oslo_policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        self._one_at_a_time = threading.Lock()

    def admit(self, context: RequestContext, project: str) -> RequestContext:
        """Return the context of a caller who acts in the project that its URL names.

        Raises:
            Forbidden: it is another project than the caller's, who is no admin.
        """
        is_admin = self._allows("context_is_admin", context)
        if context.project_id == project:
            return replace(context, is_admin=is_admin)
        if is_admin:
            return replace(context, is_admin=True, project_id=project, project_domain_id=None)
        raise errors.Forbidden(
            f"You may act in project {context.project_id or '(none)'}, and this URL is of project {project}."
        )

    def enforce(self, rule: str, context: RequestContext) -> None:
        """Let a caller through who satisfies a rule in the project it acts in.

        Raises:
            Forbidden: the rule is not satisfied.
        """
        if not self._allows(rule, context):
            raise errors.Forbidden(f"You are not authorized to do this: policy {rule} does not allow it.")

    def _allows(self, rule: str, context: RequestContext) -> bool:
        with self._one_at_a_time:
            target = {"project_id": context.project_id}
            return bool(self._enforcer.authorize(rule, target, context.to_dict()))


def access(method: str, url: str) -> Access:
    """Return what it takes to use a route.

    Raises:
        LookupError: it has no rule, or several and no way to choose.
    """
    rules = policies.by_route().get((method, url), ())
    verb = _VERBS.get((method, url))
    if not rules or (len(rules) > 1 and verb is None):
        raise LookupError(f"{method} {url} lacks a rule in heatconv.api.policies, or has too many: {rules}")
    return Access(rules, verb)


# -- where the request decides -------------------------------------------------------------


def _listing(call: Call) -> str:
    everywhere = (call.request.get_param("global_tenant") or "").lower() == "true"
    return "global_index" if everywhere else "index"


def _notifying(call: Call) -> str:
    return "global_create" if _listing(call) == "global_index" else "create"


def _patch(call: Call) -> str:
    return "update_patch" if call.sent else "update_no_change"


def _action(call: Call) -> str:
    return next(iter(call.sent), "")


_VERBS: dict[tuple[str, str], Callable[[Call], str]] = {
    ("GET", "/stacks"): _listing,
    ("GET", "/software_configs"): _listing,
    ("POST", "/notifications"): _notifying,
    ("PATCH", _STACK): _patch,
    ("POST", f"{_STACK}/actions"): _action,
    ("POST", f"{_STACK}/resources/{{resource_name}}/actions"): _action,
}
