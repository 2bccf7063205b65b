# SPDX-License-Identifier: Apache-2.0
"""A stack is created, and what it asks for is there, each resource once and after
those it needs."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(
        A=thing("a"),
        B=thing("b"),
        C=thing("c", uses=["A", "B"]),
        D=thing("d", uses=["C"]),
        E=thing("e", uses=["C"]),
    )
    world.create("web", wanted)
    world.settle()
    world.verify("web", wanted, "CREATE_COMPLETE")
    world.in_order("create", "web", "A", "C", "D")
    world.in_order("create", "web", "B", "C", "E")
