# SPDX-License-Identifier: Apache-2.0
"""A deletion hangs, and what it is about is wanted again, to be retained.  Nobody
waits for the deletion or asks again: what is left is left, another is made."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import CANCELLED, SERVER, Template, thing


def scenario(world: World) -> None:
    for name, type_ in (("web", SERVER), ("cancelled", CANCELLED)):
        before = Template(A=thing("a", type=type_), B=thing("b"))
        world.create(name, before)
        world.settle()
        world.mark()
        world.hang_next("A")
        world.update(name, before.without("A"))
        world.after(1)
        after = before.but(A=thing("a", policy="Retain"))
        world.update(name, after)
        world.settle()
        world.once("delete", name, "A")
        world.kept(name, "B")
        world.left(name, "A")
        world.verify(name, after, "UPDATE_COMPLETE")
