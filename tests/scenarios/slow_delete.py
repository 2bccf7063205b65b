# SPDX-License-Identifier: Apache-2.0
"""A resource takes long to go.  What it uses waits for it, and an update that
wants its name back does not."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"], wait=3))
    world.create("web", wanted)
    world.settle()
    world.update("web", wanted.without("B"))
    world.after(1)
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
