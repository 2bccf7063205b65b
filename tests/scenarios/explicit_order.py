# SPDX-License-Identifier: Apache-2.0
"""``depends_on`` orders what does not refer to each other, in creation and, the
other way round, in removal."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", depends_on=["A"]), C=thing("c", depends_on=["B"]))
    world.create("web", wanted)
    world.settle()
    world.verify("web", wanted)
    world.in_order("create", "web", "A", "B", "C")
    world.mark()
    world.delete("web")
    world.settle()
    world.verify_gone("web")
    world.in_order("delete", "web", "C", "B", "A")
