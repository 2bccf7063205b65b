# SPDX-License-Identifier: Apache-2.0
"""The user replaces a resource by one of another name and points its users there:
they are changed where they are, and the one of the old name goes last."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(
        A=thing("a"), C=thing("c", uses=["A"]), D=thing("d", uses=["C"]), E=thing("e", uses=["D"])
    )
    world.create("web", before)
    world.settle()
    world.mark()
    after = Template(
        A=thing("a"), N=thing("c", uses=["A"]), D=thing("d", uses=["N"]), E=thing("e", uses=["D"])
    )
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "A")
    world.kept("web", "D", "E")
