# SPDX-License-Identifier: Apache-2.0
"""Two stacks with the same names in them live through different things at the
same time, and do not notice each other."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", wanted)
    world.create("db", wanted)
    world.after(3)
    world.delete("web")
    after = wanted.but(B=thing("new", uses=["A"]), D=thing("d", uses=["C"]))
    world.update("db", after)
    world.after(1)
    world.settle()
    world.verify_gone("web")
    world.verify("db", after, "UPDATE_COMPLETE")
