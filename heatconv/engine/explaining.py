# SPDX-License-Identifier: Apache-2.0
"""Why a stack is not done: which nodes it waits for, down through nested stacks, and why it failed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from heatconv import errors
from heatconv.db.convergence import ready_nodes
from heatconv.db.plumbing.session import Database
from heatconv.engine import views
from heatconv.engine.lookup import find
from heatconv.model.explanation import Cause, ReadyNode, Wait, cause_of, words_of
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.states import Phase, Status
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]
Names = tuple[str, ...]  #: of resources, from the outermost stack in

READ = 100  #: READY nodes, and failed resources, that are read of a level of nested stacks
SHOWN = 20  #: waits, and failures, that are shown

_ORDER = {cause: place for place, cause in enumerate(Cause)}


class Explaining:
    """Answers from the database alone, in a number of statements that grows with the depth of the nesting."""

    def __init__(self, database: Database, registry: Registry, *, dead_after: float) -> None:
        """Keep what is handed in; ``dead_after`` is the seconds after which a silent daemon is dead."""
        self._database = database
        self._registry = registry
        self._dead_after = dead_after

    def explain_stack(self, context: RequestContext, stack: str) -> Json:
        """Return what a stack waits for, or why it failed; what somebody can do something about first."""
        return self.explain(find(self._database, context, stack))

    def explain(self, found: Stack) -> Json:
        """Return the same of a stack that was found already, be it whose it may."""
        waits = list(self._waits(found)) if found.status is Status.IN_PROGRESS else []
        waits.sort(key=lambda wait: (_ORDER[wait.cause], wait.found.since))
        failed = self._failures(found.id) if found.status is Status.FAILED else ()
        failures = list(itertools.islice(failed, SHOWN + 1))
        return {
            "stack": views.identity(found),
            "stack_status": f"{found.action}_{found.status}",
            "sentence": _sentence(found, waits),
            "deadline": views.time(found.deadline) if waits else None,
            "waits": [_wait_view(wait) for wait in waits[:SHOWN]],
            "failures": failures[:SHOWN],
            "more": len(waits) > SHOWN or len(failures) > SHOWN,
        }

    def _waits(self, top: Stack) -> Iterator[Wait]:
        """Yield what is READY in a stack and, in the place of a nested stack's owner, in that stack."""
        above, level = dict[str, Names]({top.id: ()}), [top.current_traversal]
        while level:
            found = ready_nodes.ready_nodes(self._database, level, dead_after=self._dead_after, limit=READ)
            # After the nodes: a holder that they say is dead does not count as alive.
            now, workers = ready_nodes.workers(self._database, dead_after=self._dead_after)
            held = [each.row.id for each in found if each.row and each.holder]
            nested = ready_nodes.nested_states(self._database, held) if held else {}
            level = []
            for each in found:
                names = _names(above[each.stack_id], each.row)
                inside = nested.get(each.row.id) if each.row else None
                if inside is not None and inside.status is Status.IN_PROGRESS:
                    above[inside.id] = names
                    level.append(inside.traversal_id)
                    continue
                awaited = self._awaited(each)
                state = None if inside is None else inside.state
                cause = cause_of(each, workers, awaited, state)
                words = words_of(cause, each, now=now, workers=workers, awaited=awaited, nested=state)
                yield Wait(names=names, found=each, cause=cause, words=words)

    def _awaited(self, found: ReadyNode) -> str | None:
        """Return what the type of a node's resource says that its action waits for."""
        row = found.row
        definition = None if row is None else row.desired or row.applied
        if row is None or definition is None or row.progress is None or not row.progress.started:
            return None
        try:
            return self._registry.get(definition.implemented_by).awaited(row.progress.token)
        except errors.NotFound:
            return None  # nor can a worker go on; its own reason says so

    def _failures(self, stack_id: str, above: Names = ()) -> Iterator[Json]:
        """Yield the resources that failed: of an owner whose nested stack failed, those inside."""
        rows = ready_nodes.failed(self._database, stack_id, limit=READ)
        nested = ready_nodes.nested_states(self._database, [row.id for row in rows]) if rows else {}
        for row in rows:
            names, inside = _names(above, row), nested.get(row.id)
            deeper = (
                self._failures(inside.id, names) if inside and inside.status is Status.FAILED else iter(())
            )
            first = next(deeper, None)
            if first is None:
                yield _failure_view(names, row)
            else:
                yield first
                yield from deeper


def _names(above: Names, row: ResourceRow | None) -> Names:
    return (*above, row.name) if row else above


def _place_view(names: Names) -> Json:
    """Return where something is: as one text, and as names, of which each may have dots of its own."""
    return {"path": ".".join(names), "names": list(names)}


def _sentence(stack: Stack, waits: Sequence[Wait]) -> str:
    """Say how a stack is, as one who explains it begins."""
    state = f"{stack.name} is {stack.action}_{stack.status}"
    if stack.status is Status.FAILED:
        return f"{state}: {stack.reason}. It stays so until somebody updates or deletes it."
    if stack.status is Status.COMPLETE:
        return f"{state}: nothing of it is under way."
    if stack.phase is Phase.PREPARE:
        return f"{state}: what comes next is decided, and an engine prepares it within seconds."
    if not waits:
        return f"{state}: it is between two steps; ask again."
    what = "what is not wanted any more" if stack.phase is Phase.GC else "what is wanted"
    return f"{state}: of {what}, this can be done now, and the rest waits for it."


def _wait_view(wait: Wait) -> Json:
    found = wait.found
    return {
        **_place_view(wait.names),
        "resource_type": found.row.type if found.row else None,
        "action": found.action if found.row else None,
        "cause": wait.cause,
        "hook": found.row.hook if found.row and wait.cause is Cause.BREAKPOINT else None,
        "since": views.time(found.since),
        "worker": found.holder.engine_id if found.holder else None,
        "sentence": wait.words.sentence,
        "next": wait.words.following,
        "advice": wait.words.advice,
    }


def _failure_view(names: Names, row: ResourceRow) -> Json:
    return {
        **_place_view(names),
        "resource_type": row.type,
        "action": row.action,
        "reason": row.reason,
        "physical_id": row.physical_id,
    }
