# SPDX-License-Identifier: Apache-2.0
"""A stack is deleted while it is being created: what was made by then, or was on
its way, goes; the rest is never made."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create(
        "web", Template(A=thing("a"), B=thing("b"), C=thing("c", uses=["A", "B"]), D=thing(uses=["C"]))
    )
    world.after(2)
    world.delete("web")
    world.settle()
    world.verify_gone("web")
