# SPDX-License-Identifier: Apache-2.0
"""What the stepper does to the five-resource stack: A, B -> C -> D, E, whose arrows the cloud insists on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, attr, thing

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


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks for."""

    method: str
    arguments: tuple[Any, ...] = (NAME,)


def create(template: Template, *, rollback: bool = False) -> Request:
    return Request(
        method="create_stack",
        arguments=(NAME, {"template": template.hot()}, {"disable_rollback": not rollback}),
    )


def update(template: Template, *, rollback: bool = False) -> Request:
    return Request(
        method="update_stack",
        arguments=(NAME, {"template": template.hot()}, {"disable_rollback": not rollback}, False),
    )


DELETE = Request(method="delete_stack")
ROLL_BACK = Request(method="rollback_stack")


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


STORIES = {
    "create": Story(before=None, ask=create(FIRST), wanted=FIRST, exact=True),
    "update": Story(before=FIRST, ask=update(SECOND), wanted=SECOND, exact=True),
    "delete": Story(before=FIRST, ask=DELETE, wanted=None, exact=True),
    "rollback": Story(before=FIRST, ask=update(SECOND, rollback=True), wanted=FIRST, faults=(_f_fails,)),
    "rollback_asked": Story(before=FIRST, ask=update(SECOND), after=4, then=ROLL_BACK, wanted=FIRST),
    "update_over_update": Story(before=FIRST, ask=update(SECOND), after=3, then=update(THIRD), wanted=THIRD),
    "delete_over_create": Story(before=None, ask=create(FIRST), after=3, then=DELETE, wanted=None),
    "update_over_delete": Story(before=FIRST, ask=DELETE, after=2, then=update(SECOND), wanted=SECOND),
}
