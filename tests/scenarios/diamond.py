# SPDX-License-Identifier: Apache-2.0
"""D needs B and C, which both need A.  A change of A's value that they read goes
through both and reaches D once."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    before = Template(
        A=thing("1"),
        B=thing(attr("A"), uses=["A"]),
        C=thing(attr("A"), uses=["A"]),
        D=thing(attr("B"), uses=["B", "C"]),
    )
    world.create("web", before)
    world.settle()
    world.verify("web", before)
    world.mark()
    after = before.but(A=thing("2"))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.once("update", "web", "A", "B", "C", "D")
    world.delete("web")
    world.settle()
    world.verify_gone("web")
