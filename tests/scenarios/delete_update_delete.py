# SPDX-License-Identifier: Apache-2.0
"""A delete is called off by an update, and that by another delete."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", wanted)
    world.settle()
    world.delete("web")
    world.after(1)
    world.update("web", wanted.but(D=thing("d", uses=["C"])))
    world.after(1)
    world.delete("web")
    world.settle()
    world.verify_gone("web")
