# SPDX-License-Identifier: Apache-2.0
"""A creation fails and is rolled back as its user asked: nothing of it stays but
the stack itself, and that can be tried again."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(
        A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]), D=thing("d", uses=["C"])
    )
    world.fail_next("C")
    world.create("web", wanted, rollback=True)
    world.settle()
    world.verify("web", Template(), "ROLLBACK_COMPLETE")
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
