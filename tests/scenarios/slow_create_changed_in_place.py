# SPDX-License-Identifier: Apache-2.0
"""What can be changed in place is not given up for a change while it is being made:
the change comes when it is there, and it is the one object."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create("web", Template(A=thing("a", wait=5), B=thing("b", uses=["A"])))
    world.after(1)
    world.mark()
    wanted = Template(A=thing("changed", wait=1), B=thing("b", uses=["A"]))
    world.update("web", wanted)
    world.settle()
    world.kept("web", "A")
    world.verify("web", wanted, "UPDATE_COMPLETE")
