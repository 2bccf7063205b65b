# SPDX-License-Identifier: Apache-2.0
"""What applying a plan adds to what is prepared anyway: the bounds of what workers may do.

Who plans is above the engine; here is only what the engine asks of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from heatconv.engine.source import Source, Wanted
from heatconv.model.foreseen import Foreseen, by_name, of_name
from heatconv.model.records import Stack
from heatconv.model.unknown import Place
from heatconv.rpc.context import RequestContext

#: What may be done to the resources of a stack as it is now, by name; None: anything.
Foresee = Callable[[Stack, Source, Wanted], Mapping[str, Foreseen] | None]

#: Whether the drift of the resource at a place counts.
Counts = Callable[[Place], bool]


class Guard(Protocol):
    """Makes what refuses an action that breaks a rule."""

    def __call__(
        self, context: RequestContext, action: str, *, counts: Counts | None = None, keeps: bool = True
    ) -> Applying:
        """Return it.

        Args:
            context: who asks for the action.
            action: update, rollback or delete.
            counts: the drift of which resources counts; None: of all.
            keeps: whether a plan is stored that shows why it is refused.
        """


@dataclass(frozen=True, kw_only=True)
class Applying:
    """A plan that is applied.

    ``foresee`` is asked again whenever the stack was changed in between, and raises PlanStale if
    the plan does not hold any more.
    """

    plan_id: str | None
    foresee: Foresee

    def bounded(self, stack: Stack, source: Source, wanted: Wanted) -> Wanted:
        """Return what is wanted of a stack, with what may be done for it.

        Raises:
            PlanStale: the plan does not hold any more.
        """
        foreseen = self.foresee(stack, source, wanted)
        if foreseen is None:
            return wanted
        targets = {
            name: target._replace(foreseen=of_name(foreseen, name)) for name, target in wanted.targets.items()
        }
        return replace(wanted, targets=targets)


UNPLANNED = Applying(plan_id=None, foresee=lambda _stack, _source, _wanted: None)


def unguarded(
    context: RequestContext,  # noqa: ARG001 - as the protocol has it
    action: str,  # noqa: ARG001
    *,
    counts: Counts | None = None,  # noqa: ARG001
    keeps: bool = True,  # noqa: ARG001
) -> Applying:
    """Refuse nothing: see ``Guard``."""
    return UNPLANNED


def of_options(options: Mapping[str, Any]) -> Applying:
    """Return the part of a plan that an owner hands down to its nested stack, if a plan is applied."""
    if options.get("foreseen") is None:
        return UNPLANNED
    foreseen = by_name(options["foreseen"])
    return Applying(plan_id=None, foresee=lambda _stack, _source, _wanted: foreseen)
