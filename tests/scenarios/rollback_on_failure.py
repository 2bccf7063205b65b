# SPDX-License-Identifier: Apache-2.0
"""An update fails in its middle and is rolled back as its user asked."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.fail_next("N")
    after = Template(
        A=thing("new"), B=thing("b", uses=["A"]), N=thing("n", uses=["A"]), D=thing("d", uses=["N"])
    )
    world.update("web", after, rollback=True)
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.kept("web", "A", "B", "C")
