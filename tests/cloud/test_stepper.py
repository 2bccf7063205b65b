# SPDX-License-Identifier: Apache-2.0
"""Kill a worker at each boundary of the life of each type; ask the services what is left."""

from __future__ import annotations

import pytest

from tests.cloud.bench import Bench
from tests.cloud.kinds import KINDS

#: Of the types that are quick to make; the others are tried by ``-m long``.
SAMPLE = ("OS::Neutron::Net", "OS::Neutron::SecurityGroupRule", "OS::Keystone::Project")


@pytest.fixture(scope="module")
def bench(world, tmp_path_factory):
    """Return a function that returns the bench on which a kind is taken through its life."""
    made = {}

    def of(kind):
        cloud = "operators" if KINDS[kind].operators else "mine"
        if cloud not in made:
            made[cloud] = Bench(world, cloud, tmp_path_factory.mktemp("bench"))
        return made[cloud]

    yield of
    for each in made.values():
        each.close()


@pytest.mark.parametrize(
    "kind", [each if each in SAMPLE else pytest.param(each, marks=pytest.mark.long) for each in KINDS]
)
def test_there_is_one_wherever_a_worker_dies(kind, bench, add_line):
    wrong, boundaries = {}, {}
    for last, life in bench(kind).lives(kind):
        boundaries = life.passed
        if life.problems:
            wrong[last] = "\n".join([f"each worker died at its boundary {last}:", *life.problems])
    counted = ", ".join(f"{count} of {what}" for what, count in boundaries.items())
    add_line(f"{kind:40} boundaries: {counted}; {len(wrong)} wrong worlds")
    assert min(boundaries.values()) > 5
    assert not wrong, "\n\n".join(wrong.values())
