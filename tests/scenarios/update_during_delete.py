# SPDX-License-Identifier: Apache-2.0
"""An update comes while the stack is being deleted.  It is accepted: what is gone
is made again, what is not is kept or replaced."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", wanted)
    world.settle()
    world.delete("web")
    world.after(1)
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
