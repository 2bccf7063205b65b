# SPDX-License-Identifier: Apache-2.0
"""What is done to a stack as it is: suspend, resume, check, take a snapshot, hand over.

None of it changes what is wanted; restoring a snapshot does, and is an update.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from heatconv import errors
from heatconv.db.convergence import nested, resources, snapshots
from heatconv.db.convergence.traversal_kinds import PLAIN, Kind, TakingSnapshot
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.requests import answer_with, carrying_out
from heatconv.db.plumbing.session import Database
from heatconv.engine import freezing, views
from heatconv.engine.applying import Applying
from heatconv.engine.freezer import Freezer
from heatconv.engine.lookup import find_living, find_to_change
from heatconv.engine.prepare import Preparer
from heatconv.engine.redaction import Redaction
from heatconv.engine.requests import Requests
from heatconv.engine.source import NO_SOURCE, Source, Wanted
from heatconv.model.records import RawTemplate, ResourceRow, Snapshot, Stack
from heatconv.model.secrets import found_in, sentence
from heatconv.model.states import Action, Status
from heatconv.resources.declared import implements
from heatconv.resources.driver import driven
from heatconv.resources.facts import Incarnation, StackFacts, Unkept
from heatconv.resources.gone import is_gone
from heatconv.resources.registry import Registry
from heatconv.resources.resource import PollDelay
from heatconv.resources.resource import Resource as Plugin
from heatconv.resources.rsrc_defn import ResourceDefinition
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

Json = dict[str, Any]

PATIENCE = 30.0  #: seconds in which a resource's part of a snapshot has to be deleted
DEEP = 100  #: levels of nested stacks, more than there can be
LOOK = 0.5  #: seconds between two looks at that


class Lifecycle:
    """Carries out what users ask for that leaves the template alone."""

    def __init__(
        self,
        *,
        database: Database,
        freezer: Freezer,
        preparer: Preparer,
        requests: Requests,
        registry: Registry,
        ring: Callable[[Started], None],
        max_snapshots: int,
        look_after: Callable[[str], None],
    ) -> None:
        """Keep what is handed in; a negative limit is none."""
        self._database = database
        self._freezer = freezer
        self._preparer = preparer
        self._requests = requests
        self._registry = registry
        self._ring = ring
        self._max_snapshots = max_snapshots
        self._look_after = look_after

    # -- every resource, as it is -------------------------------------------------------------

    def suspend_stack(self, context: RequestContext, stack: str) -> None:
        """Start to suspend every resource of a stack, dependents first."""
        self._visit(context, stack, Action.SUSPEND)

    def resume_stack(self, context: RequestContext, stack: str) -> None:
        """Start to resume every resource of a suspended stack, dependencies first."""
        self._visit(context, stack, Action.RESUME)

    def check_stack(self, context: RequestContext, stack: str) -> None:
        """Start to look whether every resource of a stack is well, and, after that, what has drifted."""
        self._look_after(self._visit(context, stack, Action.CHECK).stack_id)

    def _visit(self, context: RequestContext, stack: str, action: Action, kind: Kind = PLAIN) -> Started:
        found = find_to_change(self._database, context, stack)
        started = self._preparer.visit(found, action, kind)
        LOG.info("stack %s: %s begins (%s)", found.id, action, context.request_id)
        self._ring(started)
        return started

    # -- handing over ---------------------------------------------------------------------------

    def export_stack(self, context: RequestContext, stack: str) -> Json:
        """Return all that another installation needs to adopt a stack."""
        return snapshots.export(self._database, find_living(self._database, context, stack).id)

    def abandon_stack(self, context: RequestContext, stack: str) -> Json:
        """Return what ``export_stack`` does, and start to delete the stack, but nothing it stands for."""
        found = find_to_change(self._database, context, stack)
        data = snapshots.export(self._database, found.id)
        answer_with(lambda _started: data)
        LOG.info("stack %s: it is abandoned (%s)", found.id, context.request_id)
        # From below: whoever dies in the middle has left a tree that can be abandoned once more.
        with carrying_out(None):
            for level in reversed(nested.below(self._database, found.id, DEEP)):
                for below in level:
                    self._ring(
                        self._preparer.delete(find_living(self._database, context, below.id), abandon=True)
                    )
        self._ring(self._preparer.delete(found, abandon=True))
        return data

    # -- snapshots --------------------------------------------------------------------------------

    def create_snapshot(self, context: RequestContext, stack: str, name: str | None) -> Json:
        """Start to take a snapshot of a stack and return it."""
        answer_with(lambda started: _shown(started.snapshot))
        taking = TakingSnapshot(name=name, limit=self._max_snapshots)
        return _shown(self._visit(context, stack, Action.SNAPSHOT, taking).snapshot)

    def list_snapshots(self, context: RequestContext, stack: str) -> list[Json]:
        """Return the snapshots of a stack, the oldest first."""
        found = find_living(self._database, context, stack)
        return [_shown(each) for each in snapshots.list_snapshots(self._database, found.id)]

    def show_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> Json:
        """Return a snapshot."""
        return _shown(self._find_snapshot(find_living(self._database, context, stack), snapshot))

    def restore_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> None:
        """Start to make a stack what it was when a snapshot was taken."""
        found = find_to_change(self._database, context, stack)
        taken = self._find_snapshot(found, snapshot)
        if taken.data is None or (taken.action, taken.status) != (Action.CREATE, Status.COMPLETE):
            raise errors.NotSupported(feature=f"Restoring snapshot {snapshot}, which is not COMPLETE,")
        if found.action is Action.SUSPEND:
            raise errors.NotSupported(feature=f"Restoring stack {found.name} while it is suspended")
        data = taken.data
        source = Source(
            template=data["template"],
            environment=data["environment"],
            files=data["files"],
            refused_types=context.refused_types or (),
        )
        frozen = self._freezer.freeze(found, source, Action.RESTORE)
        wanted = self._restored(found, frozen, data["resources"])
        started = self._preparer.restore(found, source, wanted, self._requests.guard(context, "update"))
        LOG.info("stack %s: restore of %s begins (%s)", found.id, snapshot, context.request_id)
        self._ring(started)

    def _restored(self, stack: Stack, wanted: Wanted, parts: Mapping[str, Any]) -> Wanted:
        """Let each type say what brings its part of a snapshot back.

        Raises:
            ActionFailed: one cannot.
        """
        rows = {
            row.name: row
            for row in resources.list_resources(self._database, stack.id)
            if row.desired is not None
        }
        targets = dict(wanted.targets)
        known = {secret for target in targets.values() for secret in target.definition.secrets}
        known.update(secret for row in rows.values() for secret in row.secrets)
        for name in targets.keys() & parts.keys() & rows.keys():
            definition = targets[name].definition
            plugin = self._plugin(stack, rows[name], definition.implemented_by)
            if plugin is not None and implements(type(plugin), "handle_restore"):
                try:
                    restored = plugin.handle_restore(
                        ResourceDefinition.of(definition), parts[name]
                    ).definition
                except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                    raise errors.ActionFailed(reason=sentence(str(error), known)) from None
                # What was read of another resource is plain now, and no less secret for that.
                secrets = {*definition.secrets, *found_in(dict(restored.properties), known)}
                # So does it still require that one, which now cannot be seen in it.
                lost = sorted(definition.requires - restored.requires)
                kept = restored.changed(
                    depends_on=(*restored.depends_on, *lost), secrets=tuple(sorted(secrets))
                )
                targets[name] = targets[name]._replace(definition=kept)
        return replace(wanted, targets=targets)

    def delete_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> None:
        """Delete a snapshot, and what its resources keep for it."""
        found = find_to_change(self._database, context, stack)
        taken = self._find_snapshot(found, snapshot)
        if taken.status is Status.IN_PROGRESS and taken.action is Action.CREATE:
            raise errors.NotSupported(feature=f"Deleting snapshot {snapshot} while it is being taken")
        self._drop_snapshot(found, taken)

    def delete_stack(self, context: RequestContext, stack: str, *, abandon: bool = False) -> None:
        """Start to delete a stack, whatever runs now; its snapshots go first.

        ``abandon``: nothing that it stands for is deleted, and no snapshot.
        """
        found = self._requests.find_to_delete(context, stack)
        if abandon:
            self._requests.begin_deletion(context, found, abandon=True)
        else:
            self.begin_deletion(context, found, self._requests.guard_of_deletion(context, found))

    def begin_deletion(self, context: RequestContext, found: Stack, applying: Applying) -> None:
        """Start to delete a stack that was found, by a plan perhaps; its snapshots go first.

        Raises:
            GuardBroken, PlanStale: a rule, or the plan that is applied, does not let that happen.
        """
        dropped = snapshots.list_snapshots(self._database, found.id)
        if dropped:  # none of which goes for a deletion that is refused then
            applying.bounded(found, NO_SOURCE, freezing.empty())
        with carrying_out(None):
            for taken in dropped:
                self._drop_snapshot(found, taken)
        self._requests.begin_deletion(context, found, abandon=False, applying=applying)

    def _drop_snapshot(self, stack: Stack, taken: Snapshot) -> None:
        """Delete a snapshot; a process that dies meanwhile leaves it to be deleted again."""
        parts = (taken.data or {}).get("resources") or {}
        snapshots.mark(self._database, taken.id, Action.DELETE, Status.IN_PROGRESS, "")
        rows = {row.name: row for row in resources.list_resources(self._database, stack.id)} if parts else {}
        try:
            for name in parts.keys() & rows.keys():
                plugin = self._plugin(stack, rows[name], parts[name]["type"])
                if plugin is not None and implements(type(plugin), "handle_delete_snapshot"):
                    _delete_part(plugin, parts[name])
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            reason = sentence(str(error), frozenset[str]().union(*(row.secrets for row in rows.values())))
            snapshots.mark(self._database, taken.id, Action.DELETE, Status.FAILED, reason)
            raise errors.ActionFailed(reason=reason) from None
        snapshots.forget(self._database, taken.id)

    def _find_snapshot(self, stack: Stack, snapshot: str) -> Snapshot:
        found = snapshots.find(self._database, stack.id, snapshot)
        if found is None:
            raise errors.NotFound(entity="Snapshot", name=snapshot)
        return found

    def _plugin(self, stack: Stack, row: ResourceRow, type_name: str) -> Plugin | None:
        """Return a row's plugin, which may look and call but keeps nothing; None if it never was made."""
        if row.applied is None:
            return None
        context = self._registry.context(stack)
        facts = StackFacts(id=stack.id, name=stack.name, project_id=stack.project_id, context=context)
        type_ = self._registry.get(type_name)
        return driven(type_, row.name, row.applied, facts, Incarnation.of(row), Unkept()).plugin


def _delete_part(plugin: Plugin, part: Mapping[str, Any]) -> None:
    """Delete a resource's part of a snapshot; one that is gone already is fine.

    Raises:
        ActionFailed: it takes too long.
    """
    try:
        token = plugin.handle_delete_snapshot(part)
    except Exception as error:
        if is_gone(plugin, error):
            return
        raise
    deadline = time.monotonic() + PATIENCE
    while not _is_gone(plugin, token):
        if time.monotonic() > deadline:
            raise errors.ActionFailed(
                f"The snapshot of resource {plugin.name} is not gone yet; delete it again."
            )
        time.sleep(LOOK)


def _is_gone(plugin: Plugin, token: Any) -> bool:
    try:
        return plugin.check_delete_snapshot_complete(token)
    except PollDelay:
        return False


def _shown(taken: Snapshot | None) -> Json:
    assert taken is not None  # noqa: S101 - a snapshot is what this is about
    return {
        "id": taken.id,
        "name": taken.name,
        "action": taken.action,
        "status": taken.status,
        "reason": taken.reason,
        "data": taken.data and _veiled(taken.data),
        "created_at": views.time(taken.created_at),
    }


def _veiled(data: Mapping[str, Any]) -> Json:
    raw = RawTemplate(template=data["template"], environment=data["environment"], files=data["files"])
    return Redaction(raw).snapshot(data)
