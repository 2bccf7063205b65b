# SPDX-License-Identifier: Apache-2.0
"""A rollback is itself interrupted by an update, which goes on from whatever
there is."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", before)
    world.settle()
    world.update(
        "web",
        Template(A=thing("a", flavor="large"), B=thing("b", flavor="large", uses=["A"]), C=thing(uses=["B"])),
    )
    world.after(2)
    world.rollback("web")
    world.after(1)
    wanted = Template(A=thing("a", flavor="huge"), B=thing("b", uses=["A"]), D=thing("d", uses=["B"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
