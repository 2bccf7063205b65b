# SPDX-License-Identifier: Apache-2.0
"""Benchmarks run on the servers of the functional tests."""

from __future__ import annotations

from tests.functional.conftest import (
    database_kind,
    database_url,
    databases,
    fresh_database,
    rabbit_url,
    servers,
)

__all__ = ["database_kind", "database_url", "databases", "fresh_database", "rabbit_url", "servers"]
