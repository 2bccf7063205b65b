# SPDX-License-Identifier: Apache-2.0
"""A long chain is made from its foot, replaced at its foot, and removed from its
top."""

from __future__ import annotations

from itertools import pairwise

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    names = [f"C{index:02}" for index in range(10)]
    links = {name: thing(name, uses=[below]) for below, name in pairwise(names)}
    before = Template(C00=thing("foot"), **links)
    world.create("web", before)
    world.settle()
    world.verify("web", before)
    world.in_order("create", "web", *names)
    world.mark()
    after = before.but(C00=thing("foot", flavor="large"))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.kept("web", *names[1:])
    world.untouched("web", *names[2:])
    world.mark()
    world.delete("web")
    world.settle()
    world.verify_gone("web")
    world.in_order("delete", "web", *reversed(names))
