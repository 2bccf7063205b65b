# SPDX-License-Identifier: Apache-2.0
"""Two groups of resources that know nothing of each other are made side by side,
and one of them goes on when the other changes."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(
        A=thing("a"),
        B=thing("b", uses=["A"]),
        C=thing("c"),
        D=thing("d", uses=["C"]),
        E=thing("e", uses=["D"]),
    )
    world.create("web", wanted)
    world.settle()
    world.verify("web", wanted)
    world.mark()
    wanted = wanted.but(C=thing("new"))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted)
    world.untouched("web", "A", "B")
