# SPDX-License-Identifier: Apache-2.0
"""The connection breaks right after the cloud accepted a creation.  The object is
found again by its name: there is one of it."""

from __future__ import annotations

from heatconv.testing.failures import Outcome
from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["A"]))
    world.fail_next("A", outcome=Outcome.CUT)
    world.fail_next("B", outcome=Outcome.CUT)
    world.create("web", wanted)
    world.settle()
    world.verify("web", wanted, "CREATE_COMPLETE")
