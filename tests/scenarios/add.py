# SPDX-License-Identifier: Apache-2.0
"""An update adds resources; those that were there are left alone."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    after = before.but(C=thing("c", uses=["A", "B"]), D=thing(attr("C"), uses=["C"]))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "A", "B")
