# SPDX-License-Identifier: Apache-2.0
"""Whatever is wanted, in whatever order, interrupted wherever: the last wish is what comes true."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heatconv.errors import NotFound
from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR, SimulatedWorld
from heatconv.testing.simulator import Mishaps
from heatconv.testing.templates import STEPS, Template, attr, thing

NAMES = "ABCDE"
STORIES = int(os.environ.get("HEATCONV_STORIES", "25"))


@pytest.fixture(scope="module")
def registry():
    return Registry.load([PLUGIN_DIR])


@pytest.fixture(autouse=True, scope="module")
def in_memory():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
        yield


@st.composite
def templates(draw):
    """Draw a template: some of the names, in any order, each using some of those before it."""
    names = draw(st.permutations(NAMES))[: draw(st.integers(0, len(NAMES)))]
    things = {}
    for index, name in enumerate(names):
        before = names[:index]
        uses = [other for other in before if draw(st.booleans())]
        value = draw(st.sampled_from(["1", "2", *(attr(other) for other in before)]))
        flavor = draw(st.sampled_from(["small", "large"]))
        kind = STEPS if name == "E" else "Fake::Cloud::Server"
        things[name] = thing(value, flavor=flavor, uses=uses, type=kind)
    return Template(**things)


#: What is wanted next (None: that the stack goes), and how many steps that is left to run.
WISHES = st.lists(st.tuples(st.one_of(templates(), st.none()), st.integers(0, 60)), min_size=1, max_size=5)


@settings(
    max_examples=STORIES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(first=templates(), wishes=WISHES, choice=st.randoms(use_true_random=False), rough=st.booleans())
def test_the_last_wish_comes_true(registry, first, wishes, choice, rough):
    world = SimulatedWorld(registry, choice, Mishaps(0.05, 0.1, 0.02) if rough else Mishaps())
    try:
        play(world, first, wishes)
    finally:
        world.close()


def play(world, first, wishes):
    world.create("web", first)
    there = first
    for wish, steps in wishes:
        try:
            world.delete("web") if wish is None else world.update("web", wish)
        except NotFound:  # the deletion asked for before is over
            if wish is not None:
                world.create("web", wish)
        there = wish
        world.let_run(steps)
    world.settle()
    if there is None:
        world.verify_gone("web")
    else:
        world.verify("web", there)
