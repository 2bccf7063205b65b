# SPDX-License-Identifier: Apache-2.0
"""What is not wanted any more waits to be deleted, and is wanted again, changed and
to be retained: it was not asked to go, and goes on as the resource."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b"))
    world.create("web", before)
    world.settle()
    world.mark()
    world.update("web", Template(B=thing("b"), C=thing("c"), D=thing("d", uses=["C"])))
    world.after(1)
    after = Template(A=thing("changed", policy="Retain"), C=thing("c"))
    world.update("web", after)
    world.settle()
    world.kept("web", "A")
    world.verify("web", after, "UPDATE_COMPLETE")
