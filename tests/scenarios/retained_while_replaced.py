# SPDX-License-Identifier: Apache-2.0
"""The deletion of what was replaced hangs; then the resource is to be retained, and
with it all that stood for it."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create("web", Template(A=thing("a")))
    world.settle()
    world.mark()
    world.hang_next("A")
    world.update("web", Template(A=thing("a", flavor="large")))
    world.after(2)
    wanted = Template(A=thing("a", flavor="large", policy="Retain"))
    world.update("web", wanted)
    world.settle()
    world.left("web", "A")
    world.verify("web", wanted, "UPDATE_COMPLETE")
