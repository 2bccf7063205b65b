# SPDX-License-Identifier: Apache-2.0
"""What users ask of plans: to make one, to read it, to apply it, to forget it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heatconv import errors
from heatconv.db import plans as table
from heatconv.db.plumbing.requests import answer_with
from heatconv.engine import views
from heatconv.engine.applying import Applying, Counts
from heatconv.engine.lookup import find_to_change
from heatconv.engine.prepare import Preparer
from heatconv.engine.requests import Requests
from heatconv.engine.source import Source, Wanted
from heatconv.model.ids import new_id
from heatconv.model.records import Stack
from heatconv.model.saved_plan import PAGE, PlanState, SavedPlan
from heatconv.plans import guards
from heatconv.plans.holding import Holding
from heatconv.plans.inside import Means
from heatconv.plans.making import Look, Made, Making
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

Json = dict[str, Any]
Delete = Callable[[RequestContext, Stack, Applying], None]  #: as ``Lifecycle.begin_deletion``

SCHEMA_VERSION = "1.1"


class Plans:
    """Makes plans, keeps them, and applies them."""

    def __init__(
        self,
        means: Means,
        *,
        preparer: Preparer,
        requests: Requests,
        delete: Delete,
        bounds: Bounds,
        look: Look,
    ) -> None:
        """Keep what is handed in.

        ``look`` has rows of a stack's tree looked at as they really are, and says whether any has drifted.
        """
        self._making = Making(means, preparer, look)
        self._holding = Holding(means, self._making)
        self._database = means.database
        self._sources = means.sources
        self._requests = requests
        self._delete = delete
        self._bounds = bounds

    # -- to make one -------------------------------------------------------------------------------

    def create_plan(
        self,
        context: RequestContext,
        stack: str | None,
        action: str,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Json:
        """Plan an action on a stack, or the creation of one, store the plan, and return its first page."""
        # The template may refer to the id of a stack that is yet to be made.
        chosen = {"stack_id": new_id()} if stack is None else {}
        asked: Json = {"action": action, "source": dict(source), "options": {**options, **chosen}}
        try:
            made = self._making.planned(context, stack, asked)
        except errors.StaleWrite:  # the stack's own template was replaced in between
            made = self._making.planned(context, stack, asked)
        made = self._making.timed(context.project_id, made)
        saved = _saved(context, made, action, {**asked, "base": made.base, "based_on": made.based_on})
        answer_with(_first_page)
        return _first_page(table.add(self._database, saved, self._bounds.seconds, self._bounds.most))

    def guarding(
        self, context: RequestContext, action: str, *, counts: Counts | None = None, keeps: bool = True
    ) -> Applying:
        """Return what refuses an action that breaks a rule; see ``Guard``."""

        def foresee(now: Stack, source: Source, wanted: Wanted) -> None:
            if not self._making.rules(now, source, exists=True):
                return
            made = self._making.made(context, now, source, wanted, action, exists=True, counts=counts)
            if made.broken:
                shown = self._kept(_saved(context, made, action, {})) if keeps else "."
                raise guards.refusal(made.broken, shown)

        return Applying(plan_id=None, foresee=foresee)

    def _kept(self, saved: SavedPlan) -> str:
        """Store a plan that shows why something is refused; return the end of the sentence that says so."""
        try:
            table.keep(self._database, saved, self._bounds.seconds, self._bounds.most)
        except errors.RequestLimitExceeded:
            return "; no plan shows it, for the project has as many as it may."
        return f"; plan {saved.id} shows it."

    # -- to read it --------------------------------------------------------------------------------

    def show_plan(
        self, context: RequestContext, plan: str, *, start: int = 0, limit: int | None = None
    ) -> Json:
        """Return a plan, with a page of what it says of resources."""
        found, more = table.show(self._database, context.project_id, plan, start, limit)
        return _shown(found) | {"next": start + len(found.contents[table.RESOURCES]) if more else None}

    def list_plans(self, context: RequestContext, query: Mapping[str, Any]) -> list[Json]:
        """Return a page of the project's plans, or of one stack's, without what they say of resources."""
        found = table.listed(
            self._database,
            context.project_id,
            stack_id=query.get("stack"),
            limit=min(query.get("limit") or PAGE, PAGE),
            marker=query.get("marker"),
        )
        return [_shown(each) for each in found]

    def delete_plan(self, context: RequestContext, plan: str) -> None:
        """Forget a plan."""
        table.delete(self._database, context.project_id, plan)

    # -- to apply it -------------------------------------------------------------------------------

    def apply_plan(self, context: RequestContext, plan: str) -> Json:
        """Start to do what a plan says, and nothing else; return ``{"name", "id"}`` of the stack.

        Raises:
            Conflict: it was applied already.
            PlanStale: something that it goes by has changed, and what, by whom and when.
        """
        saved = table.get(self._database, context.project_id, plan)
        if saved.state is PlanState.APPLIED:
            raise errors.Conflict(f"The plan {plan} was applied already; make a new one.")
        if saved.contents["guards"]:
            raise errors.GuardBroken(reason=f"{saved.contents['guards'][0]['sentence']}.")
        if saved.state is PlanState.REFUSED:
            raise errors.PlanStale(reason=saved.refusal)
        try:
            return self._apply(context, saved)
        except (errors.PlanStale, errors.GuardBroken) as refusal:
            table.try_refuse(self._database, saved.id, refusal.reason)
            raise

    def _apply(self, context: RequestContext, saved: SavedPlan) -> Json:
        self._holding.check_types(saved)
        asked, options = saved.asked, saved.asked["options"]
        applying = Applying(
            plan_id=saved.id,
            foresee=lambda now, source, wanted: self._holding.foresee(context, saved, now, source, wanted),
        )
        if saved.stack_id is None:
            stack_id = self._requests.begin_creation(
                context, saved.stack_name, asked["source"], options, applying
            )
            return {"name": saved.stack_name, "id": stack_id}
        answer_with(lambda _begun: {"name": saved.stack_name, "id": saved.stack_id})
        try:
            if saved.action == "delete":
                found = self._requests.find_to_delete(context, saved.stack_id)
            else:
                found = find_to_change(self._database, context, saved.stack_id)
        except errors.NotFound:
            raise errors.PlanStale(reason=f"stack {saved.stack_name} was deleted. Make a new one.") from None
        match saved.action:
            case "update":
                existing = bool(options.get("existing"))
                sources = self._sources.update_source(context, asked["source"], existing=existing)
                if not existing:
                    sources = self._holding.merging(saved, sources)
                self._requests.begin_update(
                    context, found, sources, options, existing=existing, applying=applying
                )
            case "rollback":
                self._requests.begin_rollback(found, only_if_due=False, applying=applying)
            case _:
                self._delete(context, found, applying)
        return {"name": found.name, "id": found.id}


@dataclass(frozen=True)
class Bounds:
    """How long plans are kept, in seconds, and how many a project may have; a negative number is any."""

    seconds: float = 86400.0
    most: int = -1


BOUNDS = Bounds()


def _first_page(saved: SavedPlan) -> Json:
    """Return a plan that was just made, with the first page of its resources."""
    resources = saved.contents[table.RESOURCES]
    more = len(resources) > PAGE
    return _shown(saved) | {table.RESOURCES: resources[:PAGE], "next": PAGE if more else None}


def _shown(saved: SavedPlan) -> Json:
    """Return a plan in the words of the published schema."""
    contents = {key: value for key, value in saved.contents.items() if key not in table.FENCE}
    return {
        "id": saved.id,
        "schema_version": SCHEMA_VERSION,
        "action": saved.action,
        "state": saved.state,
        "stack": {"id": saved.stack_id, "name": saved.stack_name},
        "project": saved.project_id,
        "user": saved.user_name,
        "created_at": views.time(saved.created_at),
        "expires_at": views.time(saved.expires_at),
        "refusal": saved.refusal,
        "summary": dict(saved.summary),
        **contents,
    }


def _saved(context: RequestContext, made: Made, action: str, asked: Json) -> SavedPlan:
    return SavedPlan(
        id=new_id(),
        project_id=context.project_id,
        user_id=context.user_id,
        user_name=context.user_name,
        stack_id=None if made.is_new else made.stack.id,
        stack_name=made.stack.name,
        action=action,
        state=PlanState.REFUSED if made.broken else PlanState.READY,
        summary=made.summary,
        contents=made.contents,
        asked=asked,
    )
