# SPDX-License-Identifier: Apache-2.0
"""A stack is deleted while an update changes, adds and removes resources."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create(
        "web", Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]), D=thing("d"))
    )
    world.settle()
    world.update(
        "web", Template(A=thing("new"), B=thing("new", uses=["A"]), E=thing("e", uses=["B"]), D=thing("d"))
    )
    world.after(2)
    world.delete("web")
    world.settle()
    world.verify_gone("web")
