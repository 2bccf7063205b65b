# SPDX-License-Identifier: Apache-2.0
"""The replacement of a resource fails.  The old one stays in use until an update
gets through."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.fail_next("A")
    after = before.but(A=thing("a", flavor="large"))
    world.update("web", after)
    world.settle()
    world.verify("web", before, "UPDATE_FAILED")
    world.kept("web", "A", "B")
    world.update("web", after)
    world.settle()
    world.verify("web", after, "UPDATE_COMPLETE")
    world.replaced("web", "A")
    world.kept("web", "B")
