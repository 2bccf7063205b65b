# SPDX-License-Identifier: Apache-2.0
"""A stack is deleted while it is being rolled back."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create("web", Template(A=thing("a"), B=thing("b", uses=["A"])))
    world.settle()
    world.update(
        "web", Template(A=thing("a", flavor="large"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    )
    world.after(1)
    world.rollback("web")
    world.after(1)
    world.delete("web")
    world.settle()
    world.verify_gone("web")
