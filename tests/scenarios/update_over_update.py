# SPDX-License-Identifier: Apache-2.0
"""An update comes while another one runs.  The later one wins, whatever the
earlier one had come to."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    world.create(
        "web", Template(A=thing("1"), B=thing("1", uses=["A"]), C=thing("1", uses=["B"]), D=thing("1"))
    )
    world.settle()
    world.update(
        "web", Template(A=thing("2"), B=thing("2", uses=["A"]), C=thing("2", uses=["B"]), E=thing("2"))
    )
    world.after(2)
    wanted = Template(A=thing("3"), C=thing("3", uses=["A"]), D=thing("3"), F=thing("3", uses=["C", "D"]))
    world.update("web", wanted)
    world.settle()
    world.verify("web", wanted, "UPDATE_COMPLETE")
