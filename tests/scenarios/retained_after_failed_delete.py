# SPDX-License-Identifier: Apache-2.0
"""The cloud refuses to delete what is not wanted any more.  Then it is wanted again,
and to be retained: it is looked at, is well, and goes on as the resource."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import PORTED, Template, thing


def scenario(world: World) -> None:
    for name, type_ in (("web", "Fake::Cloud::Server"), ("ported", PORTED)):
        before = Template(A=thing("a", type=type_), B=thing("b"))
        world.create(name, before)
        world.settle()
        world.mark()
        world.fail_next("A", op="delete")
        world.update(name, before.without("A"))
        world.settle()
        world.verify(name, before, "UPDATE_FAILED")
        after = before.but(A=thing("changed", type=type_, policy="Retain"))
        world.update(name, after)
        world.settle()
        world.kept(name, "A", "B")
        world.verify(name, after, "UPDATE_COMPLETE")
        world.delete(name)
        world.settle()
        world.left(name, "A")
        world.verify_gone(name)
