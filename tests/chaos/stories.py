# SPDX-License-Identifier: Apache-2.0
"""What the stepper does to the five-resource stack: A, B -> C -> D, E, whose arrows the cloud insists on.

And to stacks with stacks in them: one whose value goes through a nested stack,
a group whose members change in batches, and one that signals scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, attr, thing
from heatconv.testing.trees import GIVEN, group, joined, nested, policy, scaled, source

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
LARGE = SCALED.but(G=scaled(4, thing("s", wait=3)))
CHANGED = SCALED.but(G=scaled(2, thing("t", wait=3)))
LARGE_CHANGED = SCALED.but(G=scaled(4, thing("t", wait=3)))


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks for."""

    method: str
    arguments: tuple[Any, ...] = (NAME,)


def create(template: Template, *, rollback: bool = False) -> Request:
    return Request(
        method="create_stack",
        arguments=(NAME, source(template), {"disable_rollback": not rollback}),
    )


def update(template: Template, *, rollback: bool = False) -> Request:
    return Request(
        method="update_stack",
        arguments=(NAME, source(template), {"disable_rollback": not rollback}, False),
    )


DELETE = Request(method="delete_stack")
ROLL_BACK = Request(method="rollback_stack")
SIGNAL = Request(method="signal_resource", arguments=(NAME, "P", {}))


@dataclass(frozen=True, kw_only=True)
class Story:
    """From one state of the world to another.

    ``then`` is asked for when the cloud has carried out ``after`` operations.
    ``exact``: each object is made and removed as often as in a run without a
    death; where failures or second wishes come in, that depends on who was faster.
    """

    before: Template | None
    ask: Request
    wanted: Template | None
    after: int = 0
    then: Request | None = None
    faults: tuple[Callable[[], FailureRule], ...] = ()
    exact: bool = False


def _f_fails() -> FailureRule:
    return FailureRule(op="create", owner=f"{NAME}/F", status=400, times=None)


def _q_fails() -> FailureRule:
    return FailureRule(op="create", owner=f"{NAME}-N-*/Q", status=400, times=None)


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
    "scale": Story(before=SCALED, ask=SIGNAL, wanted=LARGE, exact=True),
    "scale_over_update": Story(
        before=SCALED, ask=update(CHANGED), after=1, then=SIGNAL, wanted=LARGE_CHANGED
    ),
    "delete_over_scale": Story(before=SCALED, ask=SIGNAL, after=1, then=DELETE, wanted=None),
}
