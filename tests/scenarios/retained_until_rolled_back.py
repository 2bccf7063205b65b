# SPDX-License-Identifier: Apache-2.0
"""An update wants a resource retained, fails and is rolled back: what counts is what
the template says that the stack has come back to."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"))
    world.create("web", before)
    world.settle()
    world.fail_next("B")
    world.update("web", Template(A=thing("b", policy="Retain"), B=thing("b")), rollback=True)
    world.settle()
    world.verify("web", before, "ROLLBACK_COMPLETE")
    world.delete("web")
    world.settle()
    world.verify_gone("web")
