# SPDX-License-Identifier: Apache-2.0
"""A world to drive by hand, on each database."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from heatconv.engine.recovery import Recovery
from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from tests.functional.core.world import HOUR, World


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load([PLUGIN_DIR])


@pytest.fixture
def world(database_url: str, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    made = World(database_url, registry)
    yield made
    made.close()


@pytest.fixture
def recovery(world: World) -> Callable[..., Recovery]:
    """Return what makes the recovery of an engine; how it prepares rollbacks may be another way."""

    def made(roll_back: Callable[[str], None] = world.engine.prepare_rollback) -> Recovery:
        return Recovery(
            database=world.database,
            doorbell=world.bell,
            roll_back=roll_back,
            dead_after=HOUR,
            ready_grace=60,
        )

    return made


@pytest.fixture
def engines(recovery: Callable[..., Recovery]) -> tuple[Recovery, Recovery]:
    """Return the recovery of two engines."""
    return recovery(), recovery()
