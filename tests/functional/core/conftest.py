# SPDX-License-Identifier: Apache-2.0
"""A world to drive by hand, on each database."""

from __future__ import annotations

from collections.abc import Iterator

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
def engines(world: World) -> tuple[Recovery, Recovery]:
    """Return the recovery of two engines."""

    def recovery() -> Recovery:
        return Recovery(
            database=world.database,
            doorbell=world.bell,
            roll_back=world.engine.prepare_rollback,
            dead_after=HOUR,
            ready_grace=60,
        )

    return recovery(), recovery()
