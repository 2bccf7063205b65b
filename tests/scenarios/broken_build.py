# SPDX-License-Identifier: Apache-2.0
"""What the cloud accepts ends up in ERROR.  It is removed and made anew: there is
one of it, and it works."""

from __future__ import annotations

from heatconv.testing.failures import Outcome
from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    wanted = Template(A=thing("a"), B=thing("b", uses=["A"], wait=1), C=thing("c", uses=["B"]))
    world.fail_next("B", outcome=Outcome.BREAK)
    world.create("web", wanted)
    world.settle()
    world.verify("web", wanted, "CREATE_COMPLETE")
