# SPDX-License-Identifier: Apache-2.0
"""A resource changes in a way that no attribute of it shows: who reads it is not
touched."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    before = Template(A=thing("1"), B=thing(attr("A")), C=thing(attr("A", "id"), uses=["B"]))
    world.create("web", before)
    world.settle()
    world.mark()
    after = before.but(B=thing("was an attribute"))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "A", "C")
