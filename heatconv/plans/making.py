# SPDX-License-Identifier: Apache-2.0
"""Plans of what users ask for, as they are made: nothing of them is stored here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from heatconv import errors
from heatconv.db.convergence import stacks
from heatconv.db.delivery.durations import durations
from heatconv.db.observation import observable
from heatconv.engine import views
from heatconv.engine.applying import Counts
from heatconv.engine.freezing import empty
from heatconv.engine.lookup import find_living
from heatconv.engine.options import new_stack
from heatconv.engine.prepare import Preparer
from heatconv.engine.redaction import Redaction
from heatconv.engine.source import NO_SOURCE, Source, Wanted
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.secrets import masked_text
from heatconv.model.states import Action, Status
from heatconv.plans import fence, guards, lasting, merging, types
from heatconv.plans.forecast import Act
from heatconv.plans.inside import Insides, Means
from heatconv.plans.lasting import NO_TIME, Lasting
from heatconv.plans.planning import Planning
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]

Look = Callable[[Stack, Sequence[ResourceRow]], bool]  #: at rows as they really are: has any drifted?

#: The actions that a plan can be of, in the words of the published schema.
ACTIONS = {
    "update": Action.UPDATE,
    "rollback": Action.ROLLBACK,
    "delete": Action.DELETE,
    "create": Action.CREATE,
}


@dataclass(frozen=True, kw_only=True)
class Made:
    """A plan as it comes out, in the words of the published schema."""

    stack: Stack
    is_new: bool
    planning: Planning
    base: Mapping[str, str]
    types: Mapping[str, types.Digest]  #: that it goes by
    broken: Sequence[guards.Broken] = ()
    lasting: Lasting = NO_TIME

    @property
    def based_on(self) -> int | None:
        """What a rollback brings the stack back to."""
        return self.stack.prev_raw_template_id

    @property
    def rows(self) -> Json:
        """How the rows are that it goes by; see ``fence``."""
        return fence.rows_of(self.planning.said.forecasts, self.planning.known.gone_by)

    @property
    def summary(self) -> Json:
        """How many resources it touches, by action."""
        counted = Counter((each.act, each.certain) for each in self.planning.said.forecasts)
        acts = [act for act in Act if act is not Act.NOTHING]
        return {
            **{act: {"certain": counted[act, True], "possible": counted[act, False]} for act in acts},
            "untouched": self.planning.said.untouched
            + counted[Act.NOTHING, True]
            + counted[Act.NOTHING, False],
            "seconds": self.lasting.seconds,
            "history": self.lasting.history,
        }

    @property
    def contents(self) -> Json:
        """What it says."""
        going_on = self.stack.status is Status.IN_PROGRESS and not self.is_new
        since = self.stack.updated_at or self.stack.created_at
        return {
            "under_way": {"action": self.stack.action, "since": views.time(since)} if going_on else None,
            "guards": [each.to_json() for each in self.broken],
            "resources": [
                each.to_json() for each in self.planning.said.forecasts if each.act is not Act.NOTHING
            ],
            "rows": self.rows,
            "types": self.types,
            "hidden": fence.hidden_of(self.planning.said.forecasts),
        }


class Making:
    """Makes plans."""

    def __init__(self, means: Means, preparer: Preparer, look: Look) -> None:
        """Keep what is handed in."""
        self._means = means
        self._database = means.database
        self._freezer = means.freezer
        self._sources = means.sources
        self._quotas = means.quotas
        self._preparer = preparer
        self._look = look

    def planned(self, context: RequestContext, stack: str | None, asked: Json) -> Made:
        """Return the plan of what a user asks for.

        Raises:
            Invalid: what is asked for cannot be.
            StaleWrite: the stack's own template was replaced, and dropped, meanwhile.
        """
        action, source, options = asked["action"], asked["source"], asked["options"]
        if stack is None:
            found = new_stack(context, options["name"], options)
            self._quotas.check_project(found)
            sent = self._sources.create_source(context, source, options)
            wanted = self._freezer.freeze(found, sent, Action.CREATE)
            self._quotas.check_size(len(wanted.targets) + wanted.inside)
            return self.made(context, found, sent, wanted, action, exists=False)
        found = find_living(self._database, context, stack)
        match action:
            case "update" if found.action is Action.SUSPEND:
                raise errors.NotSupported(feature=f"Updating stack {found.name} while it is suspended")
            case "update":
                existing = bool(options.get("existing"))
                sources = self._sources.update_source(context, source, existing=existing)
                stored = self._freezer.stored(found.raw_template_id) if existing else None
                with hiding(Redaction(stored).secrets if stored else frozenset()):
                    sent = sources(found)
                    wanted = self._freezer.freeze(found, sent, Action.UPDATE)
                self._freezer.check_immutable(found, wanted)
                self._quotas.check_fits(found, wanted)
            case "rollback":
                sent, wanted = self._preparer.last_completed(found)
            case _:
                sent, wanted = NO_SOURCE, empty()
        made = self.made(context, found, sent, wanted, action, exists=True)
        if options.get("refresh") and self._has_drifted(found, made):
            return self.made(context, found, sent, wanted, action, exists=True)
        return made

    def _has_drifted(self, stack: Stack, made: Made) -> bool:
        """Look at what a plan touches; tell whether any of that has drifted."""
        touched = {each.row_id for each in made.planning.said.forecasts if each.row_id is not None}
        inside = {each.stack_id for each in made.planning.said.forecasts if each.stack_id is not None}
        rows = [row for row in observable.rows(self._database, inside) if row.id in touched] if inside else []
        return bool(rows) and self._look(stack, rows)

    def made(
        self,
        context: RequestContext,
        stack: Stack,
        source: Source,
        wanted: Wanted,
        action: str,
        *,
        exists: bool,
        counts: Counts | None = None,
    ) -> Made:
        """Return the plan of an action that makes a stack as it is wanted; ``counts`` as in ``Planning``."""
        insides = Insides(context, self._means)
        planning = Planning(self._means, insides, counts=counts)
        planning.look(insides.root(stack, source, wanted, exists=exists), ACTIONS[action])
        base = {}
        if exists and action == "update":
            base = merging.digests(self._freezer.stored(stack.raw_template_id))
        rules = self.rules(stack, source, exists=exists)
        broken = guards.broken(rules, planning.said.forecasts)
        gone_by = types.digests(self._means.registry, planning.known.types)
        return Made(
            stack=stack, is_new=not exists, planning=planning, base=base, types=gone_by, broken=broken
        )

    def rules(self, stack: Stack, source: Source, *, exists: bool) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the rules that count: the operator's, and of what the stack is and is to be.

        In a nested stack those of its root count as well.
        """
        there = [stack] if exists else []
        if stack.root_id != stack.id:
            there += filter(None, [stacks.get(self._database, stack.root_id)])
        environments = [
            stacks.get_environment(self._database, each.raw_template_id)[0] for each in there if each.guarded
        ]
        return guards.rules_of(self._freezer.operator_environment, *environments, source.environment)

    def timed(self, project_id: str, made: Made) -> Made:
        """Return a plan that says how long it should take."""
        forecasts = made.planning.said.forecasts
        took = durations(self._database, project_id, {each.type for each in forecasts})
        return replace(made, lasting=lasting.foresee(forecasts, took))


@contextmanager
def hiding(secrets: frozenset[str]) -> Iterator[None]:
    """Let no mistake show secrets."""
    try:
        yield
    except errors.Invalid as wrong:
        problems = [(path, masked_text(text, secrets)) for path, text in wrong.problems]
        message = None if problems else masked_text(str(wrong), secrets)
        raise errors.Invalid(message, problems=problems) from None
