# SPDX-License-Identifier: Apache-2.0
"""A stack is deleted before its first resource was made."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create("web", Template(A=thing("a"), B=thing(uses=["A"])))
    world.delete("web")
    world.settle()
    world.verify_gone("web")
