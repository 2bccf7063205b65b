# SPDX-License-Identifier: Apache-2.0
"""A template without resources is a stack like any other: complete at once, and
good for an update and a delete."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create("web", Template())
    world.settle()
    world.verify("web", Template(), "CREATE_COMPLETE")
    world.idle()
    wanted = Template(A=thing("a"))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted)
    world.update("web", Template())
    world.settle()
    world.verify("web", Template(), "UPDATE_COMPLETE")
    world.delete("web")
    world.settle()
    world.verify_gone("web")
