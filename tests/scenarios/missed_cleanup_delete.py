# SPDX-License-Identifier: Apache-2.0
"""An update replaces a resource and the stack is deleted before the old one is
removed: both go."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", before)
    world.settle()
    world.update("web", before.but(A=thing("a", flavor="large"), C=thing("c", flavor="large", uses=["B"])))
    world.after(2)
    world.delete("web")
    world.settle()
    world.verify_gone("web")
