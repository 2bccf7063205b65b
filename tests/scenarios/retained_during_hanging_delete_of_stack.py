# SPDX-License-Identifier: Apache-2.0
"""The deletion of a stack hangs.  An update gives one resource up that hangs, and
wants another back that nobody has deleted yet: that one goes on as it is."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.hang_next("B")
    world.delete("web")
    world.after(1)
    after = Template(A=thing("changed", policy="Retain"), B=thing("b", policy="Retain"))
    world.update("web", after)
    world.settle()
    world.left("web", "B")
    world.kept("web", "A")
    world.verify("web", after, "UPDATE_COMPLETE")
