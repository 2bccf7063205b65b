# SPDX-License-Identifier: Apache-2.0
"""A worker that dies after any of its writes leaves no twin and no orphan, and nothing is run twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from tests.functional.software.stage import Agent, Died, Stage
from tests.functional.software.test_deployments import resources

CREATED = resources(actions=["CREATE", "UPDATE", "DELETE"])
UPDATED = resources(actions=["CREATE", "UPDATE", "DELETE"], config={"config": "echo 2"})


def deaths(stage: Stage, act: Callable[[], None], before: Callable[[], None]) -> Iterator[int]:
    """Act with a worker that dies after its first write, and yield when others have taken over.

    Then again with one that dies after its second, and so on, until one survives.
    """
    for count in itertools.count(1):
        before()
        stage.new_worker().die_after(count)
        try:
            act()
        except Died:
            stage.take_over()
            yield count
        else:
            assert count > 3, "there are more than a few writes"
            return


def create(stage: Stage, agent: Agent) -> None:
    stage.create(CREATED)
    agent.signal()
    stage.run()
    assert stage.state() == "CREATE_COMPLETE"


def clear_away(stage: Stage, agent: Agent) -> None:
    stage.delete()
    agent.signal()
    stage.run()
    assert_nothing_is_left(stage)


def assert_nothing_is_left(stage: Stage) -> None:
    assert stage.state() == "DELETE_COMPLETE"
    assert (stage.deployments(), stage.configs()) == ([], [])


def test_creating(stage, agent):
    for count in deaths(stage, lambda: create(stage, agent), lambda: None):
        if not agent.has_nothing_to_do():
            agent.signal()
        stage.run()
        assert stage.state() == "CREATE_COMPLETE", count
        assert (len(stage.deployments()), len(stage.configs())) == (1, 2), count
        clear_away(stage, agent)


def test_updating(stage, agent):
    for count in deaths(stage, lambda: stage.update(UPDATED), lambda: create(stage, agent)):
        agent.signal()
        stage.run()
        assert stage.state() == "UPDATE_COMPLETE", count
        assert (len(stage.deployments()), len(stage.configs())) == (1, 2), count
        clear_away(stage, agent)


def test_deleting(stage, agent):
    for _ in deaths(stage, stage.delete, lambda: create(stage, agent)):
        agent.signal()
        stage.run()
        assert_nothing_is_left(stage)
