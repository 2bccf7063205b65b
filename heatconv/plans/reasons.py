# SPDX-License-Identifier: Apache-2.0
"""Why a resource is touched, and what is left of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heatconv.model.drift import Drift
from heatconv.model.plan import Target
from heatconv.model.records import ResourceRow
from heatconv.model.states import DeletionPolicy
from heatconv.model.unknown import Place
from heatconv.plans import showing
from heatconv.plans.forecast import Change, Forecast, Reason
from heatconv.plans.foresight import Extent
from heatconv.plans.inside import Branch
from heatconv.resources.declared import leaves_snapshots
from heatconv.resources.resource import Resource


def heals(changes: Sequence[Change], extent: Extent) -> bool:
    """Tell whether changes bring a resource back to what it was made of, and nothing else."""
    return extent is Extent.UPDATE and all(each.made == each.after and not each.unknown for each in changes)


def because(
    branch: Branch,
    before: ResourceRow,
    target: Target,
    forecast: Forecast,
    drift: Drift | None,
    touched: Mapping[Place, Forecast],
) -> list[Reason]:
    """Return why a resource is touched: by what of its own, or by which others, all the way to what began it.

    ``touched`` are those that were found before: what it requires, and what it is in.
    """
    reasons = [] if drift is None else [Reason(f"it has drifted: {drift.reason}")]
    own = [change.path for change in forecast.changes if drift is None or change.made != change.after]
    for path, through in showing.causes(before.desired, target.definition, own):
        others = [branch.below(name) for name in sorted(through) if branch.below(name) in touched]
        reasons += [Reason(f"{path} follows {each[-1]}", _way(each, touched)) for each in others]
        if not others:
            reasons.append(Reason(f"{path} is wanted otherwise", _way(branch.place, touched)))
    return reasons or [Reason("it is not as it was made", _way(branch.place, touched))]


def _way(place: Place, touched: Mapping[Place, Forecast]) -> tuple[Place, ...]:
    """Return the way from a resource back to where its change began."""
    if place not in touched:
        return ()
    reasons = touched[place].because
    return (place, *(reasons[0].via if reasons else ()))


def left_behind(policy: DeletionPolicy, type_: type[Resource] | None) -> str | None:
    """Return what stays of a resource of a type that goes, by its deletion policy; None: nothing.

    The policy may be that of a resource of another type that has taken its name.
    """
    match policy:
        case DeletionPolicy.RETAIN:
            return "What it stands for stays, by its deletion policy Retain."
        case DeletionPolicy.SNAPSHOT if type_ is not None and leaves_snapshots(type_):
            return "A snapshot of it stays, by its deletion policy Snapshot."
        case DeletionPolicy.ABANDON:
            return "What it stands for stays, and is nobody's."
        case _:
            return None
