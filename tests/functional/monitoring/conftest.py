# SPDX-License-Identifier: Apache-2.0
"""A world to drive by hand, on each database, whose figures are read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heatconv.metrics import declared, instruments, types
from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from tests.functional.observer.world import ObservedWorld


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load([PLUGIN_DIR])


@pytest.fixture
def world(database_url: str, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObservedWorld]:
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    instruments.switch_on(declared.ALL)
    types.name_each(registry.names())
    made = ObservedWorld(database_url, registry)
    yield made
    made.close()
