# SPDX-License-Identifier: Apache-2.0
"""A changed value reaches those that read it as an attribute, and those that read
it from them; who only needs the resource is left alone."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    before = Template(
        A=thing("1"),
        B=thing(attr("A"), uses=["A"]),
        C=thing(attr("B"), uses=["B"]),
        N=thing("n", uses=["A"]),
    )
    world.create("web", before)
    world.settle()
    world.verify("web", before)
    world.mark()
    after = before.but(A=thing("2"))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "N")
    world.kept("web", "A", "B", "C", "N")
