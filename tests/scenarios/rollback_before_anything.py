# SPDX-License-Identifier: Apache-2.0
"""An update is rolled back before it has changed anything: no resource of the
stack is touched."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.update("web", before.but(A=thing("new")))
    world.rollback("web")
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.kept("web", "A", "B")
