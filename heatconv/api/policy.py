# SPDX-License-Identifier: Apache-2.0
"""Whether a caller may: every request passes here, between its route and its handler.

Which rules a route has is documented in ``policies``; where it has several, what
the request asks for decides.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oslo_config import cfg
from oslo_policy import policy as oslo_policy

from heatconv import errors
from heatconv.api import policies
from heatconv.api.call import Call
from heatconv.api.policies.resource_types import PREFIX
from heatconv.rpc.context import RequestContext

_STACK = "/stacks/{stack_name}/{stack_id}"

LOOK = 1.0  #: seconds from one look at the operator's files to the next

_OF_ONE_REQUEST = frozenset({"request_id", "token"})  #: what of a context no rule is about


Besides = Callable[[Call, Mapping[str, str]], Iterable[str]]


@dataclass(frozen=True)
class Access:
    """What it takes to use a route: one of these rules, all named like ``noun:verb``."""

    rules: Sequence[str]
    verb: Callable[[Call], str] | None = None  #: which of them, where there are several
    besides: Besides | None = None  #: names the rules that a request has to satisfy as well

    def wanted(self, call: Call, fields: Mapping[str, str]) -> Iterator[str]:
        """Yield the rules that a request has to satisfy, all of them; ``fields`` are those of its URL."""
        verb = self.verb(call) if self.verb else ""
        # What has no rule is nothing that can be asked for: the handler says so.
        yield next((rule for rule in self.rules if rule.endswith(f":{verb}")), self.rules[0])
        if self.besides is not None:
            yield from self.besides(call, fields)


class Policy:
    """The rules in force: the defaults, and what the operator's files make of them.

    What was found out counts for ``LOOK`` seconds, and so a changed file does within these.

    Concurrency: the rules are read anew, when a file has changed, in the middle
    of a check; so one check is made at a time.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._enforcer = oslo_policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        self._one_at_a_time = threading.Lock()
        self._known: dict[tuple[Any, ...], bool] = {}  #: what callers may, since the last look
        self._alike: tuple[list[str], ...] = ()  #: rules about resource types that say the same
        self._next_look = 0.0

    def admit(self, context: RequestContext, project: str) -> RequestContext:
        """Return the context of a caller who acts in the project that its URL names.

        Raises:
            Forbidden: it is another project than the caller's, who is no admin.
        """
        is_admin = self.allows("context_is_admin", context)
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
        if not self.allows(rule, context):
            raise errors.Forbidden(f"You are not authorized to do this: policy {rule} does not allow it.")

    def allows(self, rule: str, context: RequestContext) -> bool:
        """Tell whether a caller satisfies a rule in the project it acts in."""
        with self._one_at_a_time:
            self._look()
            return self._satisfies(rule, context)

    def refused_types(self, context: RequestContext) -> tuple[str, ...]:
        """Return the resource types that a caller may not use, by name or by how the name begins and a ``*``.

        Most of their rules say the same, and one of these is checked.
        """
        with self._one_at_a_time:
            self._look()
            refused = [names for names in self._alike if not self._satisfies(names[0], context)]
        return tuple(sorted(name.removeprefix(PREFIX) for names in refused for name in names))

    def _satisfies(self, rule: str, context: RequestContext) -> bool:
        """Tell, as part of a check, whether a caller satisfies a rule; one that there is not, nobody does."""
        caller = (value for name, value in vars(context).items() if name not in _OF_ONE_REQUEST)
        asked = (rule, *caller)
        if asked not in self._known:
            target = {"project_id": context.project_id}
            self._known[asked] = bool(self._enforcer.enforce(rule, target, context.to_dict()))
        return self._known[asked]

    def _look(self) -> None:
        """Read the rules anew if the operator has changed them; part of a check."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._enforcer.use_conf = True
        self._enforcer.load_rules()
        # Or it would look for every file, and go through all rules, each time that it checks one.
        self._enforcer.use_conf = False
        alike: dict[str, list[str]] = {}
        for name, check in self._enforcer.rules.items():
            if name.startswith(PREFIX):
                alike.setdefault(str(check), []).append(name)
        self._alike = tuple(alike.values())
        self._known = {}
        self._next_look = now + LOOK


def names_types(method: str, url: str) -> bool:
    """Tell whether a request of a route may name resource types, or reach resources of any."""
    may_name = ("/stacks", "/plans", "/validate")
    return url.startswith("/resource_types") or (method != "GET" and url.startswith(may_name))


def access(method: str, url: str) -> Access:
    """Return what it takes to use a route.

    Raises:
        LookupError: it has no rule, or several and no way to choose.
    """
    rules = policies.by_route().get((method, url), ())
    verb = _VERBS.get((method, url))
    if not rules or (len(rules) > 1 and verb is None):
        raise LookupError(f"{method} {url} lacks a rule in heatconv.api.policies, or has too many: {rules}")
    return Access(rules, verb, _BESIDES.get((method, url)))


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


def _previewing(rule: str) -> Besides:
    """Return that a request with a body has to satisfy a rule.

    What is sent to be previewed is held against stored values, hidden ones among them: what differs,
    and what is wrong, tells of those.  So that is for whoever may replace them.
    """
    return lambda call, _fields: [rule] if call.sent else []


#: What it takes to do without a plan what a plan is of.
_DOING = {
    "create": "stacks:create",
    "update": "stacks:update",
    "rollback": "actions:rollback",
    "delete": "stacks:delete",
}


def _planning(call: Call, _fields: Mapping[str, str]) -> Iterable[str]:
    """Name the rule of the action that is planned; what is none, the handler refuses."""
    action = call.sent.get("action") or "update"
    return [_DOING[action]] if isinstance(action, str) and action in _DOING else []


def _applying(call: Call, fields: Mapping[str, str]) -> Iterable[str]:
    """Name the rule of the action that a plan is of: what it does is done by who applies it."""
    return [_DOING[call.engine.show_plan(call.context, fields["plan_id"], limit=0)["action"]]]


_BESIDES: dict[tuple[str, str], Besides] = {
    ("PUT", f"{_STACK}/preview"): _previewing("stacks:update"),
    ("PATCH", f"{_STACK}/preview"): _previewing("stacks:update_patch"),
    ("POST", "/plans"): lambda _call, _fields: [_DOING["create"]],
    ("POST", f"{_STACK}/plans"): _planning,
    ("POST", "/plans/{plan_id}/apply"): _applying,
    ("POST", f"{_STACK}/plans/{{plan_id}}/apply"): _applying,
}
