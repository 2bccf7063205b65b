# SPDX-License-Identifier: Apache-2.0
"""An update in place is given up for a replacement, and that for what was there before: what the update
may have made of the object is not taken for what it was."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.update("web", before.but(A=thing("changed", wait=5)))
    world.after(1)
    world.update("web", before.but(A=thing("a", flavor="large", wait=5)))
    world.after(1)
    world.rollback("web")
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
