# SPDX-License-Identifier: Apache-2.0
"""A stack's name is free again once the stack is deleted."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"]))
    for _ in range(2):
        world.create("web", wanted)
        world.settle()
        world.verify("web", wanted, "CREATE_COMPLETE")
        world.delete("web")
        world.settle()
        world.verify_gone("web")
