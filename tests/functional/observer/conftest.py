# SPDX-License-Identifier: Apache-2.0
"""A world with an observer in it, to drive by hand, on each database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from tests.functional.observer.world import ObservedWorld


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load([PLUGIN_DIR])


@pytest.fixture
def world(database_url: str, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObservedWorld]:
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    made = ObservedWorld(database_url, registry)
    yield made
    made.close()
