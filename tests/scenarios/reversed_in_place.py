# SPDX-License-Identifier: Apache-2.0
"""Two resources turn their dependency round, both changed where they are: the one
lets go before the other takes hold."""

from __future__ import annotations

from heatconv.testing.scenario import World
from heatconv.testing.templates import Template, thing


def scenario(world: World) -> None:
    before = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["A", "B"]))
    world.create("web", before)
    world.settle()
    world.mark()
    after = Template(A=thing("a", uses=["B"]), B=thing("b"), C=thing("c", uses=["A", "B"]))
    world.update("web", after)
    world.settle()
    world.verify("web", after)
    world.kept("web", "A", "B", "C")
