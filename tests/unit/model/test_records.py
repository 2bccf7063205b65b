# SPDX-License-Identifier: Apache-2.0
"""Records, nodes, plans and ids."""

from __future__ import annotations

import dataclasses
import json
import uuid

import pytest

from heatconv.model import outcomes
from heatconv.model.definition import Definition
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, Node
from heatconv.model.plan import Plan
from heatconv.model.records import Attempt, Job, ResourceRow, Stack, changed
from heatconv.model.states import Action, Phase, Status

ROW = ResourceRow(id="row", stack_id="stack", name="it", type="A::Type", version=3)
STACK = Stack(
    id="stack",
    name="web",
    project_id="mine",
    raw_template_id=1,
    current_traversal="now",
    action=Action.CREATE,
    status=Status.IN_PROGRESS,
    phase=Phase.UPDATE,
)


def test_a_record_is_changed_by_copy():
    other = changed(ROW, version=4)

    assert other == dataclasses.replace(ROW, version=4)
    assert ROW.version == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(other, "version", 5)  # noqa: B010 - a type checker would not let it pass otherwise


def test_an_attempt_survives_being_kept():
    attempt = Attempt(
        action=Action.UPDATE,
        definition=Definition(name="it", type="A::Type", properties={"a": 1}),
        sha1="0" * 40,
        requires={"other": 2},
        token={"at": "step 2"},
        started=True,
        retries=1,
        faults=2,
    )

    assert Attempt.from_json(json.loads(json.dumps(attempt.to_json()))) == attempt


def test_a_job_goes_in_the_direction_of_its_node():
    node = Node("row", Direction.CLEANUP)

    assert Job(stack=STACK, traversal_id="now", node=node, resource=ROW).direction is Direction.CLEANUP
    assert str(node) == "row/CLEANUP"


def test_the_leaves_of_a_plan_are_the_nodes_that_require_nothing():
    first, second = Node("a", Direction.UPDATE), Node("b", Direction.UPDATE)
    plan = Plan(
        chosen={},
        created=frozenset(),
        dirty=frozenset(),
        garbage=frozenset(),
        requires={first: frozenset(), second: frozenset({first})},
        joins={},
        inputs=(),
    )

    assert plan.leaves == (first,)


def test_ids_are_uuids_of_version_7_that_sort_by_time():
    earlier, later = uuid.UUID(new_id()), uuid.UUID(new_id())

    assert earlier != later
    assert {earlier.version, later.version} == {7}
    assert {earlier.variant, later.variant} == {uuid.RFC_4122}
    assert earlier.int >> 80 <= later.int >> 80


def test_outcomes_are_compared_by_what_they_say():
    node = Node("a", Direction.UPDATE)

    assert outcomes.Propagated((node,)) == outcomes.Propagated((node,))
    assert outcomes.Propagated() != outcomes.Propagated((node,))
    assert outcomes.Fenced() == outcomes.Fenced()
