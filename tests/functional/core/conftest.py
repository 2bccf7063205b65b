# SPDX-License-Identifier: Apache-2.0
"""A world to drive by hand, on each database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from tests.functional.core.world import World


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load([PLUGIN_DIR])


@pytest.fixture
def world(database_url: str, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    made = World(database_url, registry)
    yield made
    made.close()
