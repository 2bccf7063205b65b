# SPDX-License-Identifier: Apache-2.0
"""A world whose events go somewhere, on each database, and a server that takes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from tests.functional.sinks.receiver import Receiver
from tests.functional.sinks.world import SinkWorld


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load([PLUGIN_DIR])


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture
def world(
    database_url: str, registry: Registry, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SinkWorld]:
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    made = SinkWorld(database_url, registry)
    made.allow("http://127.0.0.1", ports=[receiver.port])
    yield made
    made.close()
