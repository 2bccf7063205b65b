# SPDX-License-Identifier: Apache-2.0
"""Three updates run into each other, the second one replacing what the first one
changes and the third one changing it back."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    first = Template(A=thing("1"), B=thing("1", uses=["A"]), C=thing("1", uses=["B"]))
    world.create("web", first)
    world.settle()
    world.update(
        "web", Template(A=thing("2"), B=thing("2", uses=["A"]), C=thing("2", uses=["B"]), D=thing("2"))
    )
    world.after(1)
    world.update(
        "web", Template(A=thing("3", flavor="large"), B=thing("3", uses=["A"]), C=thing("3", uses=["A", "B"]))
    )
    world.after(1)
    world.update("web", first)
    world.settle()
    world.verify("web", first, "UPDATE_COMPLETE")
