# SPDX-License-Identifier: Apache-2.0
"""A change of the lowest resource that replaces it, and one in each of those
above that replaces them too: everything is new, and the old goes from the top."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    small = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", small)
    world.settle()
    world.mark()
    large = Template(
        A=thing("a", flavor="large"),
        B=thing("b", flavor="large", uses=["A"]),
        C=thing("c", flavor="large", uses=["B"]),
    )
    world.update("web", large)
    world.settle()
    world.verify("web", large)
    world.replaced("web", "A", "B", "C")
    world.in_order("delete", "web", "C", "B", "A")
