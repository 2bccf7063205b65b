# SPDX-License-Identifier: Apache-2.0
"""An update with the template that is there asks nothing of the cloud, however
often."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing(attr("A"), uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", wanted)
    world.settle()
    world.mark()
    for _ in range(2):
        world.update("web", wanted)
        world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
    world.idle()
