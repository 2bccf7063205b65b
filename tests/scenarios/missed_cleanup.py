# SPDX-License-Identifier: Apache-2.0
"""An update replaces a resource and is superseded before it could remove the old
one.  The later update changes something else, and removes it."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", before)
    world.settle()
    larger = before.but(A=thing("a", flavor="large"))
    world.update("web", larger)
    world.after(2)
    wanted = larger.but(C=thing("new", uses=["B"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
