# SPDX-License-Identifier: Apache-2.0
"""What the stepper does to the five-resource stack: A, B -> C -> D, E, whose arrows the cloud insists on.

And to stacks with stacks in them: one whose value goes through a nested stack,
a group whose members change in batches, and one that signals scale.  And what
is done to some of them behind the service's back, which they are healed of.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heatconv.model.drift import Mode
from heatconv.testing.cloud import Cloud
from heatconv.testing.failures import FailureRule, Outcome
from heatconv.testing.templates import Json, Template, attr, thing
from heatconv.testing.trees import GIVEN, Passed, group, joined, nested, policy, scaled, source

NAME = "five"

FIRST = Template(
    A=thing("a", wait=3),
    B=thing("b"),
    C=thing(attr("A"), uses=["A", "B"], wait=3),
    D=thing("d", uses=["C"]),
    E=thing("e", uses=["C"], wait=3),
)
#: A and with it C changed in place, B and E replaced, D removed, F added.
SECOND = FIRST.without("D").but(
    A=thing("a2", wait=3),
    B=thing("b", flavor="large"),
    E=thing("e", flavor="large", uses=["C"], wait=3),
    F=thing("f", uses=["C"]),
)
THIRD = FIRST.but(A=thing("a3", wait=3), C=thing(attr("A"), flavor="large", uses=["A", "B"], wait=3))

#: D is to be retained.
RETAINING = FIRST.but(D=thing("d", uses=["C"], policy="Retain"))
CHANGED_RETAINING = RETAINING.but(A=thing("a2", wait=3))
FEW = Template(A=thing("a"), D=thing("d", uses=["A"]), E=thing("e"))
#: A is replaced.
LARGE_A = FIRST.but(A=thing("a", flavor="large", wait=3))

#: A value that goes through a nested stack to what depends on it.
TREE = Template(
    A=thing("a"),
    N=nested(Template(P=thing(GIVEN, wait=3)), attr("A")),
    C=thing(attr("N"), wait=3),
)
#: Each of the three changed in place, and something added in the nested stack.
GROWN_TREE = TREE.but(
    A=thing("a2"), N=nested(Template(P=thing(GIVEN, wait=3), Q=thing("q", uses=["P"])), attr("A"))
)
#: What is in the nested stack is replaced.
LARGE_TREE = TREE.but(N=nested(Template(P=thing(GIVEN, flavor="large", wait=3)), attr("A")))
#: The template that was nested is gone, with the file that it came in.
RETYPED_TREE = TREE.but(N=thing(attr("A"), wait=3))
GROUP = Template(G=group(2, thing("m%index%", wait=3)), C=thing(joined("G")))
#: One member changed in place, one added; and then one of them.
CHANGED_GROUP = GROUP.but(G=group(3, thing("n%index%", wait=3)))
SMALL_GROUP = GROUP.but(G=group(1, thing("m%index%", wait=3)))
#: Two levels: a group of stacks.
GROVE = Template(G=group(2, nested(Template(P=thing(GIVEN)), "m%index%")))
#: The policy names a number, so that to signal once more changes nothing.
SCALED = Template(G=scaled(2, thing("s", wait=3)), P=policy("G", 4, "exact_capacity"))
#: A value that goes through resources which are all that waits for the one before: they are made together.
VALUES = Template(
    A=thing("a"),
    **{name: Passed(attr(before)) for before, name in itertools.pairwise("ATUVWXYZ")},
    B=thing(attr("Z")),
)
OTHER_VALUES = VALUES.but(A=thing("a2"), C=thing(attr("W"))).without("X", "Y", "Z", "B")
LARGE = SCALED.but(G=scaled(4, thing("s", wait=3)))
CHANGED = SCALED.but(G=scaled(2, thing("t", wait=3)))
LARGE_CHANGED = SCALED.but(G=scaled(4, thing("t", wait=3)))


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks for."""

    method: str
    arguments: tuple[Any, ...] = (NAME,)
    leads_to: Template | None = None  #: what is wanted from then on, if that is another template


def create(template: Template, *, policy: Mode = Mode.OFF) -> Request:
    options = {"disable_rollback": True} | (
        {"convergence": {"policy": policy}} if policy is not Mode.OFF else {}
    )
    return Request(method="create_stack", arguments=(NAME, source(template), options))


def update(template: Template, *, rollback: bool = False) -> Request:
    return Request(
        method="update_stack",
        arguments=(NAME, source(template), {"disable_rollback": not rollback}),
        leads_to=template,
    )


DELETE = Request(method="delete_stack")
ABANDON = Request(method="abandon_stack")
ROLL_BACK = Request(method="rollback_stack")
SIGNAL = Request(method="signal_resource", arguments=(NAME, "P", {}))
OBSERVE = Request(method="tick", arguments=())  #: nobody asks for this: the observers' time has come

Drift = Callable[[Cloud, str], None]  #: what is done to an object of the cloud


def _is_deleted(cloud: Cloud, object_id: str) -> None:
    cloud.vanish(object_id)


def _is_altered(cloud: Cloud, object_id: str) -> None:
    cloud.meddle(object_id, {"value": "altered"})


def _is_broken(cloud: Cloud, object_id: str) -> None:
    cloud.spoil(object_id)


@dataclass(frozen=True, kw_only=True)
class Story:
    """From one state of the world to another.

    ``then`` is asked for when the cloud has carried out ``after`` operations.
    ``exact``: each object is made and removed as often as in a run without a
    death; where failures or second wishes come in, that depends on who was faster.
    ``drifts``: what was done to objects, by the patterns of their owners, of a
    stack that is to be healed.
    ``retained``: the owners of objects that never go: each is its resource's still, or
    was left for another.
    ``prepare``: what was asked for, and done, before the story begins.
    ``also``: yields what else is wrong, of the objects at its end.
    """

    before: Template | None
    ask: Request
    wanted: Template | None
    after: int = 0
    then: Request | None = None
    faults: tuple[Callable[[], FailureRule], ...] = ()
    exact: bool = False
    drifts: Mapping[str, Drift] = field(default_factory=dict)
    prepare: tuple[Request, ...] = ()
    also: Callable[[Sequence[Json]], Iterable[str]] = lambda _objects: ()
    retained: tuple[str, ...] = ()

    @property
    def may_fail(self) -> bool:
        """Whether something is made to fail on the way; what hangs does not fail by itself."""
        return any(fault().outcome is not Outcome.HANG for fault in self.faults)

    @property
    def at_first(self) -> Template | None:
        """The template of the stack when the story begins."""
        return next((done.leads_to for done in reversed(self.prepare) if done.leads_to), self.before)

    @property
    def policy(self) -> Mode:
        """What is done about drift."""
        return Mode.HEAL if self.drifts else Mode.OFF


def _f_fails() -> FailureRule:
    return FailureRule(op="create", owner=f"{NAME}/F", status=400, times=None)


def _q_fails() -> FailureRule:
    return FailureRule(op="create", owner=f"{NAME}-N-*/Q", status=400, times=None)


def _d_is_not_deleted() -> FailureRule:
    return FailureRule(op="delete", owner=f"{NAME}/D", status=400)


def _hangs(op: str, owner: str) -> Callable[[], FailureRule]:
    return lambda: FailureRule(op=op, owner=owner, outcome=Outcome.HANG)


STORIES = {
    "create": Story(before=None, ask=create(FIRST), wanted=FIRST, exact=True),
    "update": Story(before=FIRST, ask=update(SECOND), wanted=SECOND, exact=True),
    "delete": Story(before=FIRST, ask=DELETE, wanted=None, exact=True),
    "rollback": Story(before=FIRST, ask=update(SECOND, rollback=True), wanted=FIRST, faults=(_f_fails,)),
    "rollback_asked": Story(before=FIRST, ask=update(SECOND), after=4, then=ROLL_BACK, wanted=FIRST),
    "update_over_update": Story(before=FIRST, ask=update(SECOND), after=3, then=update(THIRD), wanted=THIRD),
    "delete_over_create": Story(before=None, ask=create(FIRST), after=3, then=DELETE, wanted=None),
    "update_over_delete": Story(before=FIRST, ask=DELETE, after=2, then=update(SECOND), wanted=SECOND),
    "tree_create": Story(before=None, ask=create(TREE), wanted=TREE, exact=True),
    "tree_update": Story(before=TREE, ask=update(GROWN_TREE), wanted=GROWN_TREE, exact=True),
    "tree_delete": Story(before=TREE, ask=DELETE, wanted=None, exact=True),
    "tree_rollback": Story(
        before=TREE, ask=update(GROWN_TREE, rollback=True), wanted=TREE, faults=(_q_fails,)
    ),
    "tree_update_over_create": Story(
        before=None, ask=create(TREE), after=2, then=update(GROWN_TREE), wanted=GROWN_TREE
    ),
    "tree_retyped_over_create": Story(
        before=None, ask=create(TREE), after=2, then=update(RETYPED_TREE), wanted=RETYPED_TREE
    ),
    "tree_delete_over_create": Story(before=None, ask=create(TREE), after=2, then=DELETE, wanted=None),
    "group_update": Story(before=GROUP, ask=update(CHANGED_GROUP), wanted=CHANGED_GROUP, exact=True),
    "group_shrink": Story(before=GROUP, ask=update(SMALL_GROUP), wanted=SMALL_GROUP, exact=True),
    "group_delete": Story(before=GROUP, ask=DELETE, wanted=None, exact=True),
    "group_of_stacks": Story(before=None, ask=create(GROVE), wanted=GROVE, exact=True),
    "values": Story(before=None, ask=create(VALUES), wanted=VALUES, exact=True),
    "values_over_values": Story(
        before=None, ask=create(VALUES), after=1, then=update(OTHER_VALUES), wanted=OTHER_VALUES
    ),
    "scale": Story(before=SCALED, ask=SIGNAL, wanted=LARGE, exact=True),
    "scale_over_update": Story(
        before=SCALED, ask=update(CHANGED), after=1, then=SIGNAL, wanted=LARGE_CHANGED
    ),
    # A with C that depends on it is changed back, D and E are made anew.
    "heal": Story(
        before=FIRST,
        drifts={f"{NAME}/A": _is_altered, f"{NAME}/D": _is_deleted, f"{NAME}/E": _is_broken},
        ask=OBSERVE,
        wanted=FIRST,
        exact=True,
    ),
    "tree_heal": Story(
        before=GROVE,
        drifts={f"{NAME}-G-*-0-*/P": _is_deleted, f"{NAME}-G-*-1-*/P": _is_altered},
        ask=OBSERVE,
        wanted=GROVE,
        exact=True,
    ),
    "update_over_heal": Story(
        before=FIRST,
        drifts={f"{NAME}/A": _is_altered, f"{NAME}/D": _is_deleted, f"{NAME}/E": _is_broken},
        ask=OBSERVE,
        after=2,
        then=update(SECOND),
        wanted=SECOND,
    ),
    # What is to be retained by now, while its deletion is under way or after it was refused.
    "retain_over_hanging_delete": Story(
        before=FIRST,
        ask=update(FIRST.without("D")),
        faults=(_hangs("delete", f"{NAME}/D"),),
        after=1,
        then=update(RETAINING),
        wanted=RETAINING,
        retained=(f"{NAME}/D",),
    ),
    "retain_over_hanging_delete_of_stack": Story(
        before=FIRST,
        ask=DELETE,
        faults=(_hangs("delete", f"{NAME}/D"),),
        after=2,
        then=update(RETAINING),
        wanted=RETAINING,
        retained=(f"{NAME}/D",),
    ),
    "retain_over_refused_delete": Story(
        before=FIRST,
        ask=update(FIRST.without("D")),
        faults=(_d_is_not_deleted,),
        after=1,
        then=update(CHANGED_RETAINING),
        wanted=CHANGED_RETAINING,
        retained=(f"{NAME}/D",),
    ),
    "abandon_over_hanging_delete": Story(
        before=FEW,
        ask=DELETE,
        faults=(_hangs("delete", f"{NAME}/D"),),
        after=2,
        then=ABANDON,
        wanted=None,
        retained=(f"{NAME}/A", f"{NAME}/D"),
    ),
    # What hangs is given up for what replaces it.
    "replace_over_stuck_create": Story(
        before=None,
        ask=create(FIRST),
        faults=(_hangs("create", f"{NAME}/A"),),
        after=2,
        then=update(LARGE_A),
        wanted=LARGE_A,
    ),
    "replace_over_stuck_update": Story(
        before=FIRST,
        ask=update(FIRST.but(A=thing("a2"))),
        faults=(_hangs("update", f"{NAME}/A"),),
        after=1,
        then=update(LARGE_A),
        wanted=LARGE_A,
    ),
    "tree_replace_over_stuck_create": Story(
        before=None,
        ask=create(TREE),
        faults=(_hangs("create", f"{NAME}-N-*/P"),),
        after=2,
        then=update(LARGE_TREE),
        wanted=LARGE_TREE,
    ),
    "delete_over_scale": Story(before=SCALED, ask=SIGNAL, after=1, then=DELETE, wanted=None),
}
