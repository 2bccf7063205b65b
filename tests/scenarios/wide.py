# SPDX-License-Identifier: Apache-2.0
"""Many resources stand side by side between one that they all need and one that
needs them all.  The delete is asked for twice, which changes nothing."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    middle = {f"M{index}": thing(f"{index}", uses=["A"]) for index in range(12)}
    before = Template(A=thing("a"), Z=thing("z", uses=list(middle)), **middle)
    world.create("web", before)
    world.settle()
    world.verify("web", before)
    world.mark()
    after = before.but(M5=thing("new", uses=["A"]))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.untouched("web", "A", "M4", "M6", "Z")
    world.delete("web")
    world.after(5)
    world.delete("web")
    world.settle()
    world.verify_gone("web")
