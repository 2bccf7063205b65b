# SPDX-License-Identifier: Apache-2.0
"""A change in place hangs, and the next update changes what takes a replacement: that
one is begun at once, and what hung is cleared away."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.hang_next("A", op="update")
    world.update("web", before.but(A=thing("changed")))
    world.after(1)
    after = before.but(A=thing("changed", flavor="large"))
    world.update("web", after)
    world.settle()
    world.replaced("web", "A")
    world.kept("web", "B")
    world.verify("web", after, "UPDATE_COMPLETE")
