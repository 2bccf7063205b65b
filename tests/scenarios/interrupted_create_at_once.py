# SPDX-License-Identifier: Apache-2.0
"""An update comes before the creation it follows has touched anything."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create("web", Template(A=thing("a"), B=thing("b", uses=["A"])))
    wanted = Template(B=thing("b"), C=thing("c", uses=["B"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
