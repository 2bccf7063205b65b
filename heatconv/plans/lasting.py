# SPDX-License-Identifier: Apache-2.0
"""How long what a plan says should take: medians of what it took before, along what waits for what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from heatconv.model.states import Action
from heatconv.model.unknown import Place
from heatconv.plans.forecast import Act, Forecast

Took = Mapping[tuple[str, Action], Sequence[float]]  #: seconds, by type and action

_ACTIONS = {
    Act.CREATE: Action.CREATE,
    Act.ADOPT: Action.ADOPT,
    Act.UPDATE: Action.UPDATE,
    Act.HEAL: Action.UPDATE,
    Act.REPLACE: Action.CREATE,
    Act.DELETE: Action.DELETE,
    Act.CHECK: Action.CHECK,
}


@dataclass(frozen=True)
class Lasting:
    """Seconds, and of how many actions before they are the medians; None: there were none."""

    seconds: float | None
    history: int


NO_TIME = Lasting(None, 0)


def foresee(forecasts: Sequence[Forecast], took: Took) -> Lasting:
    """Note of each forecast how long it should take; return how long all of them should."""
    medians = {key: median(each) for key, each in took.items() if each}
    inside: dict[Place, list[Forecast]] = defaultdict(list)
    for each in forecasts:
        inside[each.place[:-1]].append(each)
        action = _ACTIONS.get(each.act)
        if action is not None:
            seconds = medians.get((each.type, action))
            each.seconds = None if seconds is None else round(seconds, 1)
            each.history = len(took.get((each.type, action), ()))
    known = {(each.type, _ACTIONS[each.act]) for each in forecasts if each.history}
    if not known:
        return NO_TIME
    return Lasting(round(_of_stack((), inside, medians), 1), sum(len(took[key]) for key in known))


def _of_stack(
    place: Place, inside: Mapping[Place, Sequence[Forecast]], medians: Mapping[tuple[str, Action], float]
) -> float:
    """Return how long the longest way through a stack takes: what is made first, and what goes after."""
    ends: dict[Place, float] = {}
    going = 0.0
    for each in sorted(inside.get(place, ()), key=lambda each: each.order):
        own = each.seconds or 0.0
        if each.place in inside:
            own = max(own, _of_stack(each.place, inside, medians))
        if each.act in (Act.DELETE, Act.RETAIN):
            going = max(going, own)
            continue
        ends[each.place] = own + max((ends.get(before, 0.0) for before in each.after), default=0.0)
        if each.act is Act.REPLACE:
            going = max(going, medians.get((each.type, Action.DELETE), 0.0))
    return max(ends.values(), default=0.0) + going
