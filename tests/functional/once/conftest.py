# SPDX-License-Identifier: Apache-2.0
"""An engine and a worker in this process, whose endpoints are called as the bus calls them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heatconv.resources.registry import Registry
from tests.functional.once.serving import Serving


@pytest.fixture(scope="session")
def types() -> Registry:
    return Registry.load()


@pytest.fixture
def serving(database_url: str, types: Registry) -> Iterator[Serving]:
    running = Serving(database_url, types)
    yield running
    running.close()
