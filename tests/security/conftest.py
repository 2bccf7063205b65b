# SPDX-License-Identifier: Apache-2.0
"""Attackers work against what the functional tests run."""

from __future__ import annotations

from tests.functional.auth.conftest import by_password  # noqa: F401 - a fixture
from tests.functional.conftest import (  # noqa: F401 - fixtures
    cloud_url,
    database_kind,
    database_url,
    databases,
    empty_database_url,
    endpoint,
    fresh_database,
    rabbit_url,
    run_daemons,
    servers,
)
