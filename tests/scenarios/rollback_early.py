# SPDX-License-Identifier: Apache-2.0
"""An update is rolled back as soon as it has made its first change."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.update("web", before.but(A=thing("new"), B=thing("new", uses=["A"]), D=thing("d", uses=["C"])))
    world.after(1)
    world.rollback("web")
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.kept("web", "A", "B", "C")
