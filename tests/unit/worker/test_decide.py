# SPDX-License-Identifier: Apache-2.0
"""What there is to do for a node, by what its claim finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heatconv import errors
from heatconv.model.deferred import call
from heatconv.model.definition import Definition
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.records import Attempt, Job, ResourceRow, Stack
from heatconv.model.states import Action, DeletionPolicy, Phase, Status
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Unchanged
from heatconv.worker import late
from heatconv.worker.decide import decide, resolve_definition

STACK = Stack(
    id="stack",
    name="web",
    project_id="mine",
    raw_template_id=1,
    current_traversal="now",
    action=Action.UPDATE,
    status=Status.IN_PROGRESS,
    phase=Phase.UPDATE,
)
FROZEN = Definition(
    name="it",
    type="A::Type",
    properties={"of": call("get_resource", "other")},
    metadata={"x": call("get_attr", ["other", "x"])},
    update_policy={"fixed": 1},
)
OTHER = NodeData(
    name="other", resource_id="row2", reference_id="physical 2", attributes={'["x"]': 7}, output_version=3
)
WANTED = Definition(
    name="it",
    type="A::Type",
    properties={"of": "physical 2"},
    metadata={"x": 7},
    update_policy={"fixed": 1},
)
BEFORE = Definition(name="it", type="A::Type", properties={"of": "something else"})
REQUIRES = {"row2": 3}
CREATE = Attempt(action=Action.CREATE, definition=WANTED, sha1=FROZEN.sha1, requires=REQUIRES)


def under_way(action):
    return Attempt(action=action, definition=BEFORE, sha1="old", requires={})


def row(**fields):
    return ResourceRow(
        **{
            "id": "row",
            "stack_id": "stack",
            "name": "it",
            "type": "A::Type",
            "version": 0,
            "desired": FROZEN,
            "desired_sha1": FROZEN.sha1,
            **fields,
        }
    )


def made(**fields):
    return row(**{"action": Action.CREATE, "applied": BEFORE, "physical_id": "physical", **fields})


def step(resource, direction=Direction.UPDATE, inputs=(OTHER,)):
    node = Node("row", direction)
    return decide(Job(stack=STACK, traversal_id="now", node=node, resource=resource, inputs=inputs))


UPDATES = {
    "nothing was done to it yet": (row(), Start(CREATE)),
    "nobody knows whether it was begun": (
        row(progress=replace(under_way(Action.CREATE), forgotten=True)),
        Start(replace(CREATE, again=True)),
    ),
    "its creation failed and left nothing": (
        row(action=Action.CREATE, status=Status.FAILED),
        Start(CREATE),
    ),
    "its creation failed and left something": (
        row(action=Action.CREATE, status=Status.FAILED, physical_id="broken"),
        Compare(WANTED, REQUIRES),
    ),
    "it is there and has no name in the world": (
        made(physical_id=None),
        Compare(WANTED, REQUIRES),
    ),
    "its update failed and it has no name in the world": (
        made(action=Action.UPDATE, status=Status.FAILED, physical_id=None),
        Compare(WANTED, REQUIRES),
    ),
    "it is there and differs": (made(), Compare(WANTED, REQUIRES)),
    "it is there and is as wanted": (made(applied=WANTED), Unchanged(WANTED, REQUIRES)),
    "it is as wanted and was found to be broken": (
        made(applied=WANTED, action=Action.CHECK, status=Status.FAILED),
        Compare(WANTED, REQUIRES),
    ),
    "its creation goes on": (
        row(action=Action.CREATE, status=Status.IN_PROGRESS, progress=CREATE),
        Resume(CREATE),
    ),
    "its creation goes on, and something else is wanted by now": (
        row(action=Action.CREATE, status=Status.IN_PROGRESS, progress=under_way(Action.CREATE)),
        Resume(under_way(Action.CREATE), newer=CREATE),
    ),
    "its update goes on": (
        made(action=Action.UPDATE, status=Status.IN_PROGRESS, progress=under_way(Action.UPDATE)),
        Resume(under_way(Action.UPDATE), newer=replace(CREATE, action=Action.UPDATE)),
    ),
    "its deletion goes on": (
        made(action=Action.DELETE, status=Status.IN_PROGRESS, progress=under_way(Action.DELETE)),
        Replace(CREATE),
    ),
    "its deletion failed": (made(action=Action.DELETE, status=Status.FAILED), Replace(CREATE)),
    "it is not wanted any more": (made(desired=None, desired_sha1=None), Skip()),
    "it is gone": (None, Skip()),
}


@pytest.mark.parametrize(("resource", "expected"), UPDATES.values(), ids=UPDATES)
def test_to_make_it_so_when(resource, expected):
    assert step(resource) == expected


def delete(definition):
    return Start(Attempt(action=Action.DELETE, definition=definition, sha1="", requires={}))


def garbage(**fields):
    return made(**{"desired": None, "desired_sha1": None, **fields})


CLEANUPS = {
    "it is there": (garbage(), delete(BEFORE)),
    "it is wanted": (made(), Skip()),
    "nothing was done to it": (garbage(action=Action.INIT, applied=None, physical_id=None), Remove()),
    "its creation was under way": (
        garbage(status=Status.IN_PROGRESS, applied=None, progress=under_way(Action.CREATE)),
        delete(BEFORE),
    ),
    "its update was under way": (
        garbage(action=Action.UPDATE, applied=WANTED, progress=under_way(Action.UPDATE)),
        delete(BEFORE),
    ),
    "its deletion goes on": (
        garbage(action=Action.DELETE, status=Status.IN_PROGRESS, progress=under_way(Action.DELETE)),
        Resume(under_way(Action.DELETE)),
    ),
    "its deletion failed": (garbage(action=Action.DELETE, status=Status.FAILED), delete(BEFORE)),
    "nobody knows what it was": (garbage(status=Status.FAILED, applied=None), Remove()),
    "it is gone": (None, Skip()),
}


@pytest.mark.parametrize(("resource", "expected"), CLEANUPS.values(), ids=CLEANUPS)
def test_to_clear_it_away_when(resource, expected):
    assert step(resource, Direction.CLEANUP) == expected


def test_a_function_that_does_not_take_what_it_gets_fails_the_resource():
    reduced = Definition(
        name="it",
        type="A::Type",
        properties={"of": call("list_join", [",", call("get_attr", ["other", "x"])])},
    )

    failed = step(row(desired=reduced, desired_sha1=reduced.sha1))

    assert isinstance(failed, Fail)
    assert "list_join" in failed.reason


def test_every_part_of_a_definition_is_resolved():
    frozen = Definition(
        name="it",
        type="A::Type",
        properties={"p": call("get_resource", "other")},
        metadata={"m": call("get_resource", "other")},
        update_policy={"u": call("get_resource", "other")},
        depends_on=("other",),
    )
    job = Job(
        stack=STACK, traversal_id="now", node=Node("row", Direction.UPDATE), resource=None, inputs=(OTHER,)
    )

    resolved = resolve_definition(frozen, job)

    assert (resolved.properties, resolved.metadata, resolved.update_policy) == (
        {"p": "physical 2"},
        {"m": "physical 2"},
        {"u": "physical 2"},
    )
    assert resolved.depends_on == ("other",)


def test_what_cannot_be_resolved_says_why():
    frozen = Definition(name="it", type="A::Type", properties={"p": call("list_join", [",", 1])})
    job = Job(stack=STACK, traversal_id="now", node=Node("row", Direction.UPDATE), resource=None)

    with pytest.raises(errors.ActionFailed, match="list_join"):
        resolve_definition(frozen, job)


# -- by which policy -------------------------------------------------------------------------


RETAINED = replace(BEFORE, deletion_policy=DeletionPolicy.RETAIN)


def clean_up(resource: ResourceRow, stack: Stack = STACK) -> Any:
    return decide(
        Job(stack=stack, traversal_id="now", node=Node("row", Direction.CLEANUP), resource=resource)
    )


def test_the_newest_policy_counts_for_what_is_not_deleted_yet():
    step = clean_up(garbage(action=Action.CREATE, applied=BEFORE, deletion_policy=DeletionPolicy.RETAIN))
    assert step.attempt.definition == RETAINED
    step = clean_up(garbage(action=Action.CREATE, applied=RETAINED, deletion_policy=DeletionPolicy.DELETE))
    assert step.attempt.definition == BEFORE
    step = clean_up(garbage(action=Action.CREATE, applied=RETAINED, deletion_policy=None))
    assert step.attempt.definition == RETAINED


@pytest.mark.parametrize("newest", [None, DeletionPolicy.DELETE, DeletionPolicy.SNAPSHOT])
def test_a_deletion_under_way_goes_on(newest):
    deleting = garbage(action=Action.DELETE, progress=under_way(Action.DELETE), deletion_policy=newest)
    assert clean_up(deleting) == Resume(deleting.progress)


def test_a_deletion_under_way_is_given_up_once():
    deleting = garbage(
        action=Action.DELETE, progress=under_way(Action.DELETE), deletion_policy=DeletionPolicy.RETAIN
    )
    left = clean_up(deleting).newer
    assert left.definition == RETAINED
    assert not left.started
    assert clean_up(replace(deleting, progress=left)) == Resume(left)


def test_to_abandon_a_stack_gives_up_what_is_being_deleted():
    deleting = garbage(action=Action.DELETE, progress=under_way(Action.DELETE))
    left = clean_up(deleting, replace(STACK, abandoned=True)).newer
    assert left.definition.deletion_policy is DeletionPolicy.ABANDON


def test_what_could_not_be_deleted_and_is_to_be_retained_is_looked_at():
    refused = row(
        action=Action.DELETE,
        status=Status.FAILED,
        applied=BEFORE,
        desired=FROZEN,
        desired_sha1=FROZEN.sha1,
        deletion_policy=DeletionPolicy.RETAIN,
    )
    job = Job(
        stack=STACK, traversal_id="now", node=Node("row", Direction.UPDATE), resource=refused, inputs=(OTHER,)
    )
    step = decide(job)
    assert isinstance(step, Start)
    look = step.attempt
    assert (look.action, look.definition) == (Action.CHECK, BEFORE)
    unwanted = replace(refused, deletion_policy=DeletionPolicy.DELETE)
    assert isinstance(decide(replace(job, resource=unwanted)), Replace)


@pytest.mark.parametrize(
    ("fields", "looks"),
    [
        ({"progress": CREATE}, late.LOOKS),
        ({"progress": replace(CREATE, started=True)}, 0),
        ({"progress": CREATE, "physical_id": "it"}, 0),
        ({"progress": replace(CREATE, unheard=2), "physical_id": "it"}, 2),
        ({"progress": replace(CREATE, action=Action.UPDATE)}, 0),
        ({"applied": BEFORE}, 0),
    ],
)
def test_a_deletion_looks_for_what_a_create_may_have_made_whose_answer_nobody_heard(fields, looks):
    resource = row(action=Action.CREATE, desired=None, **fields)
    assert step(resource, Direction.CLEANUP).attempt.unheard == looks
