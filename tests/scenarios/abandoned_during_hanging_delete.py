# SPDX-License-Identifier: Apache-2.0
"""The deletion of a stack hangs, and the stack is abandoned: it ends, what is left
of its objects is left."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.hang_next("B")
    world.delete("web")
    world.after(1)
    world.abandon("web")
    world.settle()
    world.once("delete", "web", "B")
    world.left("web", "A", "B")
    world.verify_gone("web")
