# SPDX-License-Identifier: Apache-2.0
"""Whether a plan that was saved holds still, now that it is applied, and what workers may do by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from heatconv import errors
from heatconv.db.convergence import resources, stacks
from heatconv.engine import views
from heatconv.engine.applying import Counts
from heatconv.engine.freezing import empty
from heatconv.engine.source import NO_SOURCE, Source, Wanted
from heatconv.model.foreseen import Deed, Foreseen
from heatconv.model.records import Stack
from heatconv.model.saved_plan import SavedPlan
from heatconv.model.states import Action, Status
from heatconv.plans import fence, guards, merging, types
from heatconv.plans.forecast import Forecast, foreseen
from heatconv.plans.inside import Means
from heatconv.plans.making import Made, Making
from heatconv.rpc.context import RequestContext

NAMED = 5  #: resources, at most, that a refusal names
_LOOKS = 3  #: at a stack that others change, until what is theirs can be told from what is the plan's


class Holding:
    """Makes plans anew, and holds those that were saved against them."""

    def __init__(self, means: Means, making: Making) -> None:
        """Keep what is handed in."""
        self._making = making
        self._registry = means.registry
        self._database = means.database
        self._freezer = means.freezer

    def check_types(self, saved: SavedPlan) -> None:
        """Refuse a plan that goes by resource types which this engine has otherwise.

        Raises:
            PlanStale: one is another, and which.
        """
        wrong = list(types.changed(self._registry, saved.contents["types"]))
        if wrong:
            raise errors.PlanStale(reason=f"{wrong[0]}{_more(wrong)}. Make a new one.")

    def merging(self, saved: SavedPlan, posted: Callable[[Stack], Source]) -> Callable[[Stack], Source]:
        """Return how to get at what was posted, laid over what others have made of the stack since."""

        def build(now: Stack) -> Source:
            there = self._freezer.stored(now.raw_template_id)
            try:
                return merging.merged(saved.asked["base"], posted(now), there)
            except merging.BothChanged as both:
                raise _stale(now, f"{both} was changed as well") from None

        return build

    def foresee(
        self, context: RequestContext, saved: SavedPlan, now: Stack, source: Source, wanted: Wanted
    ) -> Mapping[str, Foreseen]:
        """Return what workers may do, if the plan holds still."""
        exists = saved.stack_id is not None
        only = {tuple(each["path"]) for each in saved.contents["resources"]}.__contains__
        pending: list[Forecast] = []
        for _ in range(_LOOKS):
            # Before: what is done by the time of the next look is not in that any more.
            if exists and now.status is Status.IN_PROGRESS:
                pending += self._pending(context, now, only)
            made = self._making.made(context, now, source, wanted, saved.action, exists=exists, counts=only)
            wrong = fence.beyond(saved.contents["resources"], made.planning.said.forecasts, pending)
            if not (wrong and pending):
                break
        if saved.action == "rollback" and made.based_on != saved.asked["based_on"]:
            raise _stale(now, "what it was to be brought back to is another template by now")
        if made.broken:
            raise guards.refusal(made.broken, ".")
        self._check_rows(saved, made, now)
        if wrong:
            place, sentence = wrong[0]
            raise _stale(now, f"of {'/'.join(place)}: {sentence}{_more(wrong)}")
        if secret := fence.changed_secret(saved.contents["hidden"], made.planning.said.forecasts):
            raise _stale(now, secret)
        allowed = frozenset(map(Deed, saved.asked["options"].get("allow") or ()))
        return foreseen(made.planning.said.forecasts, made.planning.said.made_up, allowed)

    def _pending(self, context: RequestContext, now: Stack, only: Counts) -> Sequence[Forecast]:
        """Return what becomes of a stack in which something is under way, if nothing comes on top of that."""
        if now.action is Action.DELETE:
            source, wanted = NO_SOURCE, empty()
        else:
            source = self._freezer.stored(now.raw_template_id)
            wanted = self._freezer.freeze(now, source, Action.UPDATE)
        return self._making.made(
            context, now, source, wanted, "update", exists=True, counts=only
        ).planning.said.forecasts

    def _check_rows(self, saved: SavedPlan, made: Made, now: Stack) -> None:
        """Refuse what was changed of what the plan goes by, whatever that comes to.

        Raises:
            PlanStale: something was.
        """
        changed = fence.changed_rows(saved.contents["rows"], made.rows)
        if not changed:
            return
        names = sorted(set(changed.values()))
        found = resources.get_many(self._database, list(changed)[:1])
        inside = stacks.get(self._database, found[0].stack_id) if found else None
        raise _stale(now, f"{', '.join(names[:NAMED])}{_more(names, beside=NAMED)} changed", inside)


def _stale(stack: Stack, what: str, inside: Stack | None = None) -> errors.PlanStale:
    """Return the error that says what has changed of a stack, or of one inside it, by whom, and when."""
    where = (
        "" if inside is None or inside.id == stack.id else f" in stack {inside.name} at {_changed(inside)}"
    )
    who = stack.changed_by or "heatconv itself"
    return errors.PlanStale(
        reason=f"{what}{where}; stack {stack.name} was last changed by {who} at {_changed(stack)}. "
        "Make a new one."
    )


def _more(found: Sequence[object], *, beside: int = 1) -> str:
    """Return how many there are beside the first, or the first few."""
    return f", and {len(found) - beside} more" if len(found) > beside else ""


def _changed(stack: Stack) -> str | None:
    return views.time(stack.updated_at or stack.created_at)
