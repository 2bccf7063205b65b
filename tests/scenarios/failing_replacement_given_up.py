# SPDX-License-Identifier: Apache-2.0
"""The replacement of a resource fails, and the user goes back to the template
before: the old one is taken up again as it is."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.fail_next("A")
    world.update("web", before.but(A=thing("a", flavor="large")))
    world.settle()
    world.update("web", before)
    world.settle()
    world.verify("web", before, "UPDATE_COMPLETE")
    world.kept("web", "A", "B")
