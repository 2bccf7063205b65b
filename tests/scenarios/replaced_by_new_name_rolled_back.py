# SPDX-License-Identifier: Apache-2.0
"""The same change of names is rolled back half way: the new one has been made,
and the old one is still there to be returned to."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), C=thing("c", uses=["A"]), D=thing("d", uses=["C"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.update("web", Template(A=thing("a"), N=thing("c", uses=["A"]), D=thing("d", uses=["N"])))
    world.after(1)
    world.rollback("web")
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.untouched("web", "A")
    world.kept("web", "C", "D")
