# SPDX-License-Identifier: Apache-2.0
"""A creation fails.  What was made stays, and the next update makes the rest
without touching it."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(
        A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]), D=thing("d", uses=["C"])
    )
    world.fail_next("C")
    world.create("web", wanted)
    world.settle()
    world.verify("web", wanted.without("C", "D"), "CREATE_FAILED")
    world.mark()
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
    world.untouched("web", "A")
    world.kept("web", "A", "B")
