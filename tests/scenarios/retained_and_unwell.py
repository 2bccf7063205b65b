# SPDX-License-Identifier: Apache-2.0
"""What could not be deleted is to be retained by now, and is broken when it is wanted
again: it is left alone, and another is made."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b"))
    world.create("web", before)
    world.settle()
    world.fail_next("A", op="delete")
    world.update("web", before.without("A"))
    world.settle()
    world.mark()
    world.spoil("web", "A")
    after = before.but(A=thing("a", policy="Retain"))
    world.update("web", after)
    world.settle()
    world.left("web", "A")
    world.verify("web", after, "UPDATE_COMPLETE")
    world.mark()
    world.delete("web")
    world.settle()
    world.left("web", "A")
    world.verify_gone("web")
