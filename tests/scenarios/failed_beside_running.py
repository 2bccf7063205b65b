# SPDX-License-Identifier: Apache-2.0
"""One resource fails while others are being made.  Those finish and stay known:
the delete that follows leaves nothing behind."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.fail_next("A")
    world.create(
        "web",
        Template(A=thing("a"), B=thing("b", wait=2), C=thing("c", wait=4), D=thing("d", uses=["B", "C"])),
    )
    world.settle()
    world.delete("web")
    world.settle()
    world.verify_gone("web")
