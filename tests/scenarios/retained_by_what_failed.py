# SPDX-License-Identifier: Apache-2.0
"""An update that wants a resource retained fails before it comes to it.  The newest
template that names it counts all the same, until one says otherwise."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    for name, last in (("kept", "Retain"), ("gone", "Delete")):
        world.create(name, Template(A=thing("a")))
        world.settle()
        world.mark()
        world.fail_next("B")
        wanted = Template(A=thing("a", uses=["B"], policy="Retain"), B=thing("b"))
        world.update(name, wanted)
        world.settle()
        world.verify(name, Template(A=thing("a")), "UPDATE_FAILED")
        if last == "Delete":
            world.fail_next("B")
            world.update(name, wanted.but(A=thing("a", uses=["B"], policy="Delete")))
            world.settle()
        world.delete(name)
        world.settle()
        if last == "Retain":
            world.left(name, "A")
        world.verify_gone(name)
