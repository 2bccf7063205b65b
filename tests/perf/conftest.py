# SPDX-License-Identifier: Apache-2.0
"""Benchmarks run on the servers of the functional tests."""

from __future__ import annotations

import pytest

from tests.functional.conftest import database_kind, database_url, databases, rabbit_url, servers

__all__ = ["database_kind", "database_url", "databases", "rabbit_url", "servers"]


def pytest_configure(config: pytest.Config) -> None:
    """Let pass what oslo.messaging says of its own dependencies, here where it runs in process."""
    config.addinivalue_line("filterwarnings", "ignore::DeprecationWarning")
