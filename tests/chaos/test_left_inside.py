# SPDX-License-Identifier: Apache-2.0
"""A worker dies over a group while the stack fails; then what is in the group is gone, and put right."""

from __future__ import annotations

import fnmatch

import pytest

from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, thing
from heatconv.testing.trees import INDEX, group
from tests.chaos.bench import let_the_cloud_finish
from tests.chaos.stories import NAME, create, update

BEFORE = Template(G=group(1, thing("old" + INDEX)))
#: The group is begun before A, and A taken over before it: B fails while nobody looks after the group.
WANTED = Template(
    A=thing("a", uses=["Z"]),
    B=thing("b", uses=["A"]),
    Z=thing("z", wait=1),
    G=group(2, thing("m" + INDEX, wait=4)),
)

#: What there is before, and what is asked for.
STORIES = {
    "creation": (None, create(WANTED)),
    "update": (BEFORE, update(WANTED)),
}


@pytest.mark.parametrize("name", STORIES)
def test_a_group_that_was_left_in_the_middle_is_looked_into(bench, add_line, name):
    before, request = STORIES[name]
    wrong, deaths, died = {}, 0, True
    while died:
        boundary = 1 + 7 * deaths
        stage = bench.set_up(before)
        IN_PROCESS.fail(FailureRule("create", name="five-B-*", status=400))
        stage.add_engine()
        worker = stage.add_worker(boundary)
        stage.add_worker()
        stage.ask(request.method, *request.arguments)
        stage.run()
        died = worker.fate.dead
        IN_PROCESS.stop_failing()
        for found in IN_PROCESS.owned():
            if fnmatch.fnmatchcase(found["owner"], f"{NAME}-G-*/*"):
                IN_PROCESS.vanish(found["id"])

        stage.ask("converge_stack", NAME)
        stage.run()

        let_the_cloud_finish()
        if problems := bench.problems(WANTED, may_fail=True):
            wrong[boundary] = problems
        deaths += 1
    add_line(f"left inside: {name:10} {deaths:4} deaths, {len(wrong)} wrong worlds")
    assert not wrong, wrong
