# SPDX-License-Identifier: Apache-2.0
"""An update is rolled back when all but its last change is made.  The resources
that were replaced are still there, and the stack returns to them."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(
        A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]), D=thing("d", uses=["C"])
    )
    world.create("web", before)
    world.settle()
    world.mark()
    after = Template(
        A=thing("a", flavor="large"),
        B=thing("b", flavor="large", uses=["A"]),
        C=thing("new", uses=["B"]),
        D=thing("new", uses=["C"]),
    )
    world.update("web", after)
    world.after(3)
    world.rollback("web")
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.kept("web", "A", "B", "C", "D")
