# SPDX-License-Identifier: Apache-2.0
"""The cloud turns requests away for a while, as busy clouds do.  That is waited
out and is nobody's failure."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"]))
    for op in ("create", "update", "delete"):
        world.fail_next("A", op=op, status=429)
        world.fail_next("B", op=op, status=503, times=2)
    world.create("web", wanted)
    world.settle()
    world.verify("web", wanted, "CREATE_COMPLETE")
    wanted = Template(A=thing("new"), B=thing("new", uses=["A"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
    world.delete("web")
    world.settle()
    world.verify_gone("web")
