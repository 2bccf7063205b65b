# SPDX-License-Identifier: Apache-2.0
"""A deletion fails half way; asked again, it goes through."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
    world.create("web", wanted)
    world.settle()
    world.fail_next("B", op="delete")
    world.delete("web")
    world.settle()
    world.verify("web", wanted.without("C"), "DELETE_FAILED")
    world.delete("web")
    world.settle()
    world.verify_gone("web")
