# SPDX-License-Identifier: Apache-2.0
"""An update that adds resources is rolled back half way: what it made goes again."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b"))
    world.create("web", before)
    world.settle()
    world.mark()
    world.update(
        "web", before.but(C=thing("c", uses=["A"]), D=thing("d", uses=["C"]), E=thing("e", uses=["D"]))
    )
    world.after(2)
    world.rollback("web")
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.untouched("web", "B")
    world.kept("web", "A", "B")
