# SPDX-License-Identifier: Apache-2.0
"""An update removes resources, users before what they use; those that stay are
left alone."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(
        A=thing("a"),
        B=thing("b", uses=["A"]),
        C=thing("c", uses=["B"]),
        D=thing("d", uses=["C"]),
        E=thing("e"),
    )
    world.create("web", before)
    world.settle()
    world.mark()
    after = before.without("C", "D")
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "A", "B", "E")
    world.in_order("delete", "web", "D", "C")
