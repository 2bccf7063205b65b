# SPDX-License-Identifier: Apache-2.0
"""Two resources are replaced and their dependency is turned round in the same
update."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    after = Template(A=thing("a", flavor="large", uses=["B"]), B=thing("b", flavor="large"))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.replaced("web", "A", "B")
