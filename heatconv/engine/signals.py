# SPDX-License-Identifier: Apache-2.0
"""What a resource is told from outside: signals, breakpoints cleared, that it is not well.

A signal is stored when this returns, and then every worker is woken that waits
for something to happen to the resource.  What it wishes of a nested stack is
stored first and carried out then: if this engine dies in between, recovery does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from heatconv import errors
from heatconv.db.convergence import pending_signals, resources, signals, stacks
from heatconv.db.plumbing.session import Database
from heatconv.engine.lookup import find_living
from heatconv.engine.redaction import Redaction
from heatconv.engine.signalled_plugins import SignalledPlugins
from heatconv.engine.stack_users import own_resource
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.secrets import account, sentence
from heatconv.model.states import Action, Status
from heatconv.resources.resource import NoActionRequired
from heatconv.resources.stack_resource import StackResource
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

Json = Mapping[str, Any]

ATTEMPTS = 20  #: how often a signal is handled anew because others were stored meanwhile
#: Why what a signal wishes cannot be: to try again would come to the same.
_NEVER = (
    errors.Invalid,
    errors.BadRequest,
    errors.GuardBroken,
    errors.NotFound,
    errors.NotSupported,
    errors.RequestLimitExceeded,
)
HOOKS = frozenset(f"{when}-{action}" for when in ("pre", "post") for action in ("create", "update", "delete"))


class Signals:
    """Takes what is told to resources."""

    def __init__(
        self,
        *,
        database: Database,
        plugins: SignalledPlugins,
        wake: Callable[[str], None],
    ) -> None:
        """Keep what is handed in; ``wake`` tells the workers that something happened to a row."""
        self._database = database
        self._plugins = plugins
        self._wake = wake

    def signal_resource(self, context: RequestContext, stack: str, name: str, details: Json) -> None:
        """Tell a resource something; ``unset_hook`` among the details clears a breakpoint.

        A stack user may tell its own resource something, and clears no breakpoints.

        Raises:
            NotFound: there is no such resource, or it was never begun.
            NotSupported: resources of the type take no signals, or not now.
            BadRequest: it does not take this one.
        """
        own = own_resource(self._database, context, stack, name)
        if own is not None:
            self._signal(*own, details)
            self._wake(own[1].id)
            return
        found = find_living(self._database, context, stack)
        if details and "unset_hook" in details:
            row = self._clear_hook(found, name, str(details["unset_hook"]))
        else:
            row = self._addressed(found, name)
            self._signal(found, row, details)
        self._wake(row.id)

    def carry_out(self, resource_id: str) -> None:
        """Let a nested stack follow what signals wrote on its owner, if that can be now."""
        with suppress(errors.BadRequest):  # an event tells of it
            self._carry_out(resource_id)

    # -- signals --------------------------------------------------------------------------------

    def _signal(self, stack: Stack, row: ResourceRow, details: Json) -> None:
        self._handle(stack, row, details)
        # Those of the dead among them: nobody has to wait for recovery who comes by.
        for wished in pending_signals.of(self._database, {row.id, *row.requires}):
            self._carry_out(wished)

    def _handle(self, stack: Stack, row: ResourceRow, details: Json) -> None:
        for _ in range(ATTEMPTS):
            plugin = self._plugins.of(stack, row)
            if stack.action in plugin.no_signal_actions:
                # Heat's clients look for both sentences.
                signals.note_refusal(self._database, row, f"Cannot signal resource during {stack.action}")
                raise errors.NotSupported(
                    f"Signal resource during {stack.action} is not supported: resource {row.name} takes"
                    " signals when its stack does something else."
                )
            if getattr(plugin, "handle_signal", None) is None:
                raise errors.NotSupported(feature=f"Signalling resource {row.name}, a {row.type},")
            try:
                said = plugin.handle_signal(details)
            except errors.StaleWrite:
                row = self._addressed(stack, row.id)
                continue
            except NoActionRequired:
                return
            except (errors.UserError, ValueError, TypeError) as error:
                reason = sentence(str(error), self._secrets(stack, row)).rstrip(".")
                raise errors.BadRequest(f"Resource {row.name} does not take this signal: {reason}.") from None
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                secrets = self._secrets(stack, row)
                reason = sentence(f"{type(error).__name__}: {error}", secrets)
                failure = account(error, secrets)
                LOG.warning("stack %s: the signal to %s failed: %s", stack.id, row.name, failure)
                signals.note(self._database, row, Status.FAILED, reason)
                return
            reason = sentence(_reason(said, details), self._secrets(stack, row))
            signals.note(self._database, row, Status.COMPLETE, reason)
            return
        raise errors.ResourceLocked(name=row.name)

    def _carry_out(self, resource_id: str) -> None:
        """Carry out a wish, or leave it to recovery.

        Raises:
            BadRequest: it never can be, and is forgotten.
        """
        try:
            self._follow(resource_id)
        except errors.BadRequest:
            raise
        except Exception:
            LOG.exception("resource %s: what a signal wishes cannot be carried out now", resource_id)

    def _follow(self, resource_id: str) -> None:
        for _ in range(ATTEMPTS):
            row = resources.find(self._database, resource_id)
            stack = None if row is None else stacks.get(self._database, row.stack_id)
            if row is None or stack is None:
                pending_signals.drop(self._database, resource_id)
                return
            try:
                plugin = self._plugins.of(stack, row)
                if isinstance(plugin, StackResource):
                    plugin.follow()
            except errors.StaleWrite:
                continue
            except _NEVER as error:
                pending_signals.drop(self._database, resource_id)
                reason = sentence(str(error), self._secrets(stack, row)).rstrip(".")
                signals.note(self._database, row, Status.FAILED, reason)
                raise errors.BadRequest(f"Resource {row.name} cannot be so: {reason}.") from None
            if pending_signals.try_settle(self._database, row):
                return
        LOG.info("resource %s: it changes all the time; what a signal wishes of it has to wait", resource_id)

    # -- breakpoints and health -------------------------------------------------------------------

    def _clear_hook(self, stack: Stack, name: str, hook: str) -> ResourceRow:
        if hook not in HOOKS:
            known = ", ".join(sorted(HOOKS))
            raise errors.BadRequest(f"There is no breakpoint {hook!r}: it may be one of {known}.")
        row = resources.find_paused(self._database, stack.id, name, hook)
        if row is None:
            self._find(stack, name)
        if row is None or not signals.try_clear_hook(self._database, row, hook):
            raise errors.BadRequest(f"Resource {name} does not wait at {hook}.")
        return row

    def mark_unhealthy(
        self, context: RequestContext, stack: str, name: str, *, unhealthy: bool, reason: str
    ) -> None:
        """Mark a resource, told by name or physical id, for the next update to replace it; or well again.

        Raises:
            NotFound: there is no such resource.
            ResourceLocked: an action is under way on it.
        """
        found = find_living(self._database, context, stack)
        row = self._find(found, name)
        if not unhealthy and (row.action, row.status) != (Action.CHECK, Status.FAILED):
            return
        status = Status.FAILED if unhealthy else Status.COMPLETE
        said = reason or ("marked unhealthy by a user" if unhealthy else "marked healthy by a user")
        reason = sentence(said, self._secrets(found, row))
        if row.engine_id is not None or not signals.try_mark(self._database, row, status, reason):
            raise errors.ResourceLocked(name=row.name)

    def _secrets(self, stack: Stack, row: ResourceRow) -> frozenset[str]:
        """Return what must not be shown of what is said to a row: who says it may know all of the stack."""
        try:
            raw = stacks.get_template(self._database, stack.raw_template_id)
        except errors.StaleWrite:  # another template took its place meanwhile
            now = stacks.get(self._database, stack.id)
            return row.secrets if now is None else self._secrets(now, row)
        return row.secrets | Redaction(raw).secrets

    def _addressed(self, stack: Stack, name: str) -> ResourceRow:
        """Return the resource of a name, or the very row of an id: one that is not wanted any more, too."""
        row = resources.find(self._database, name)
        return row if row is not None and row.stack_id == stack.id else self._find(stack, name)

    def _find(self, stack: Stack, name: str) -> ResourceRow:
        row = resources.find_wanted(self._database, stack.id, name)
        if row is None:
            raise errors.NotFound(entity="Resource", name=name)
        return row


def _reason(said: Any, details: Json | None) -> str:
    if isinstance(said, str) and said:
        return f"Signal: {said}"
    return "Signal received" if details else "No signal details provided"
