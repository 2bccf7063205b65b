# SPDX-License-Identifier: Apache-2.0
"""A resource that cannot be changed in place is replaced: the new one is made,
those that use the old one turn to it, and then the old one goes."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    before = Template(
        A=thing("a"),
        B=thing("b"),
        C=thing("c", uses=["A", "B"]),
        D=thing("d", uses=["C"]),
        E=thing(attr("C", "id"), uses=["C"]),
    )
    world.create("web", before)
    world.settle()
    world.mark()
    after = before.but(C=thing("c", flavor="large", uses=["A", "B"]))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "A", "B")
    world.replaced("web", "C")
    world.kept("web", "D", "E")
