# SPDX-License-Identifier: Apache-2.0
"""A resource is to be replaced again while its replacement is under way: in the
end there is one, as wanted last."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.update("web", before.but(A=thing("a", flavor="large")))
    world.after(1)
    wanted = before.but(A=thing("a", flavor="huge"))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted)
    world.replaced("web", "A")
    world.kept("web", "B", "C")
