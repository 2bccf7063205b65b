# SPDX-License-Identifier: Apache-2.0
"""A database of each kind, to put rows into and to purge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from heatconv.db.plumbing.session import Database
from heatconv.testing.keys import KEYRING


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(Database.from_url(database_url, KEYRING)) as opened:
        yield opened


@pytest.fixture
def config_file(database_url: str, tmp_path: Path) -> Path:
    path = tmp_path / "heatconv.conf"
    path.write_text(f"[database]\nconnection = {database_url}\n")
    return path
