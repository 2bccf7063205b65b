# SPDX-License-Identifier: Apache-2.0
"""The whole story in one go.  C needs A and B; D and E need C.  An update changes
C, drops D and E and adds F.  A and B are not even looked at, C is changed
where it is, F is made and D and E are gone."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, attr, thing


def scenario(world: World) -> None:
    before = Template(
        A=thing("a"),
        B=thing("b"),
        C=thing("c", uses=["A", "B"]),
        D=thing("d", uses=["C"]),
        E=thing(attr("C"), uses=["C"]),
    )
    world.create("web", before)
    world.settle()
    world.verify("web", before, "CREATE_COMPLETE")

    world.mark()
    after = before.without("D", "E").but(C=thing("new", uses=["A", "B"]), F=thing(attr("C"), uses=["C"]))
    world.update("web", after)
    world.settle()
    world.verify("web", after, "UPDATE_COMPLETE")
    world.untouched("web", "A", "B")
    world.kept("web", "A", "B", "C")

    world.delete("web")
    world.settle()
    world.verify_gone("web")
