# SPDX-License-Identifier: Apache-2.0
"""An update that removes resources fails before it comes to remove them, and is
rolled back: they are the same ones as before."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.fail_next("A", op="update")
    world.update("web", Template(A=thing("new")), rollback=True)
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.kept("web", "A", "B", "C")
