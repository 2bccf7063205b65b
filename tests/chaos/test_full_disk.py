# SPDX-License-Identifier: Apache-2.0
"""The database has no room left for a while."""

from __future__ import annotations

from contextlib import closing, suppress

import pytest
import sqlalchemy as sa

from heatconv.client.http import ClientError
from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial, layered
from tests.functional.servers.databases import MariaDB
from tests.functional.servers.private import PrivateMariaDB

ONE_FILE = "--innodb-file-per-table=0"
GROWS = "--innodb-data-file-path=ibdata1:12M:autoextend"
SMALL = (ONE_FILE, f"{GROWS}:max:32M")  #: to InnoDB a full disk when all of it is used
ROOMY = (ONE_FILE, GROWS)


def fill(url):
    """Leave no room in a database."""
    engine = sa.create_engine(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE filler (data LONGTEXT)")
        for size in (1_000_000, 10_000, 1_000):
            with suppress(sa.exc.DBAPIError):
                while True:
                    connection.exec_driver_sql(f"INSERT INTO filler VALUES (REPEAT('x', {size}))")


@pytest.mark.timeout(0)
def test_what_is_under_way_waits_until_there_is_room(private, run_daemons, rabbit_url, add_line):
    server = private(PrivateMariaDB, *SMALL)
    url = MariaDB(server.url).create()
    daemons = run_daemons(database_url=url, transport_url=rabbit_url, engines=1, workers=2)
    large = Template(A=thing("x" * 200_000))
    with closing(Trial(daemons, "full", layered(20, 3, wait=2))) as trial:
        trial.create()
        trial.wait_until_made(30)
        fill(url)
        made = trial.created().total()
        with pytest.raises(ClientError) as refused, closing(Trial(daemons, "large", large)) as other:
            other.create()
        server.stop()
        server.options = ROOMY
        server.start()
        took = trial.arrive()
        add_line(f"MariaDB full when {made} of {len(trial.template)} were made; the API said:")
        add_line(f"    {refused.value.status} {refused.value}")
        add_line(f"CREATE_COMPLETE {took:.0f} s after there was room again")
        assert refused.value.status == 503
        assert str(refused.value).endswith("is full); try again later.")
        assert trial.problems() == []
        assert all(process.running for process in daemons.processes.values())
