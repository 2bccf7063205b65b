# SPDX-License-Identifier: Apache-2.0
"""An update in place fails, and a later one gets through."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("1"), B=thing("1", uses=["A"]), C=thing("1", uses=["B"]))
    world.create("web", before)
    world.settle()
    world.fail_next("B", op="update")
    world.update("web", Template(A=thing("2"), B=thing("2", uses=["A"]), C=thing("2", uses=["B"])))
    world.settle()
    world.verify("web", before.but(A=thing("2")), "UPDATE_FAILED")
    wanted = Template(A=thing("2"), B=thing("3", uses=["A"]), C=thing("3", uses=["B"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
