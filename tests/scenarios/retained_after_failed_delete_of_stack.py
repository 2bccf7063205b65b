# SPDX-License-Identifier: Apache-2.0
"""The deletion of a stack is refused for one resource.  An update wants the stack
back, and that resource retained: it is kept, the others are made anew."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]))
    world.create("web", before)
    world.settle()
    world.mark()
    world.fail_next("A", op="delete")
    world.delete("web")
    world.settle()
    world.verify("web", before.without("B"), "DELETE_FAILED")
    after = before.but(A=thing("a", policy="Retain"))
    world.update("web", after)
    world.settle()
    world.kept("web", "A")
    world.replaced("web", "B")
    world.verify("web", after, "UPDATE_COMPLETE")
