# SPDX-License-Identifier: Apache-2.0
"""A resource changes nothing but its name: to the engine that is one resource
more and one less."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    after = Template(A=thing("a"), Z=thing("b", uses=["A"]))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "A")
