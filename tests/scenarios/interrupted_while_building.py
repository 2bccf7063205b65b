# SPDX-License-Identifier: Apache-2.0
"""The resource that an update is about is still being built, slowly.  The update
waits for it, and does not build a second one."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    world.create("web", Template(A=thing("a", wait=3), B=thing("b", uses=["A"])))
    world.after(1)
    wanted = Template(A=thing("new", wait=3), B=thing("b", uses=["A"]), C=thing(attr("A"), uses=["A"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
