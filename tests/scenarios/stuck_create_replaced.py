# SPDX-License-Identifier: Apache-2.0
"""A creation hangs, and an update changes what takes a replacement: the new one is
begun at once, what uses it is made, and what hung is cleared away."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import STEPS, Template, thing


def scenario(world: World) -> None:
    for name, changed in (("flavor", thing("a", flavor="large")), ("type", thing("a", type=STEPS))):
        world.hang_next("A", op="create")
        before = Template(A=thing("a"), B=thing("b", uses=["A"]))
        world.create(name, before)
        world.after(1)
        after = before.but(A=changed)
        world.update(name, after)
        world.settle()
        world.verify(name, after, "UPDATE_COMPLETE")
