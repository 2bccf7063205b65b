# SPDX-License-Identifier: Apache-2.0
"""A database for rows that are planted, on each server."""

from __future__ import annotations

import pytest

from heatconv.db.plumbing.session import Database
from heatconv.testing.keys import KEYRING
from tests.functional.servers.databases import KINDS


@pytest.fixture(params=KINDS)
def database(request, fresh_database):
    database = Database.from_url(fresh_database(request.param), KEYRING)
    yield database
    database.close()
