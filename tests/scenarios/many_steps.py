# SPDX-License-Identifier: Apache-2.0
"""A resource is made in several steps, and an update comes between two of them:
the steps are finished, none is taken twice, and then the update applies."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import STEPS, Template, thing


def scenario(world: World) -> None:
    world.create("web", Template(A=thing("a", type=STEPS), B=thing("b", uses=["A"])))
    world.after(2)
    wanted = Template(A=thing("new", type=STEPS), B=thing("b", uses=["A"]), C=thing("c", uses=["A"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
