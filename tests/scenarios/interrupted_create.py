# SPDX-License-Identifier: Apache-2.0
"""An update comes while the stack is being created.  What has been made is kept
and changed, what has not is made as the update wants it."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create(
        "web", Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]), D=thing("d"))
    )
    world.after(2)
    wanted = Template(
        A=thing("new"), B=thing("new", uses=["A"]), C=thing("c", uses=["A"]), E=thing("e", uses=["C"])
    )
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
