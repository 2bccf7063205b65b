# SPDX-License-Identifier: Apache-2.0
"""A daemon that comes up says so if the database takes fewer connections than the daemons may open."""

from __future__ import annotations

from contextlib import closing

import pytest

from heatconv.db import sizing
from heatconv.db.convergence import services
from heatconv.db.plumbing.session import Database


@pytest.fixture
def crowd(database_url):
    """Return a database that three daemons use, each with a thousand connections."""
    with closing(Database(connection=database_url, max_pool_size=2, max_overflow=998)) as database:
        for number in range(3):
            services.heartbeat(
                database,
                engine_id=f"00000000-0000-4000-8000-00000000000{number}",
                host="here",
                binary="heatconv-engine",
                topic="heatconv-engine",
                interval=60,
            )
        yield database


@pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])
def test_a_server_that_takes_fewer_is_named_with_what_to_do(crowd):
    said = sizing.shortage(crowd, dead_after=600)
    assert said is not None
    assert "the 3 daemons that are up may open 1000 each, 3000 in all" in said
    assert "max_connections" in said


@pytest.mark.parametrize("database_kind", ["postgresql", "mariadb"])
def test_the_dead_open_none(crowd):
    assert sizing.shortage(crowd, dead_after=-600) is None


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_file_has_no_limit(crowd):
    assert sizing.shortage(crowd, dead_after=600) is None


def test_a_few_fit(database_url):
    with closing(Database.from_url(database_url)) as database:
        assert sizing.shortage(database, dead_after=600) is None
