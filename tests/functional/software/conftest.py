# SPDX-License-Identifier: Apache-2.0
"""A stage on each database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from heatconv.resources.registry import Registry
from tests.functional.software.stage import Agent, Stage


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture
def make_stage(database_url: str, registry: Registry) -> Iterator[Callable[..., Stage]]:
    with ExitStack() as until:

        def make(**arguments: Any) -> Stage:
            made = Stage(database_url, registry, **arguments)
            until.callback(made.close)
            return made

        yield make


@pytest.fixture
def stage(make_stage: Callable[..., Stage]) -> Stage:
    return make_stage()


@pytest.fixture
def agent(stage: Stage) -> Agent:
    """The agent on the server s1."""
    return Agent(stage, "s1")
