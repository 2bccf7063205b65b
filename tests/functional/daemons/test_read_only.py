# SPDX-License-Identifier: Apache-2.0
"""A database that answers, and takes nothing for a while: read-only after a failover, or full."""

from __future__ import annotations

from contextlib import closing, contextmanager

import requests
import sqlalchemy as sa

from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial, layered


@contextmanager
def read_only(url):
    """Let a database of PostgreSQL refuse to be written to, as a standby does."""
    name = sa.make_url(url).database
    _over_everybody(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    try:
        yield
    finally:
        _over_everybody(url, f"ALTER DATABASE {name} RESET default_transaction_read_only")


def _over_everybody(url, statement):
    """Run a statement, and have everybody connect anew, who then goes by it."""
    engine = sa.create_engine(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("SET default_transaction_read_only = off")
        connection.exec_driver_sql(statement)
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_what_is_under_way_waits_for_a_database_that_is_read_only(run_daemons, fresh_database, rabbit_url):
    url = fresh_database("postgresql")
    # An engine tries for half a minute, as long as another server may take to come in its place.
    patient = {"DEFAULT": {"rpc_response_timeout": 60}}
    daemons = run_daemons(database_url=url, transport_url=rabbit_url, engines=1, workers=2, options=patient)
    with closing(Trial(daemons, "ro", layered(4, 3, wait=1))) as trial:
        trial.create()
        trial.wait_until_made(4)
        with read_only(url):
            other = Template(A=thing("a")).hot()
            answer = requests.post(
                f"{daemons.endpoint}/stacks", json={"stack_name": "other", "template": other}, timeout=90
            )
            assert answer.status_code == 503
            error = answer.json()["error"]
            assert (error["type"], error["traceback"]) == ("ServiceUnavailable", None)
            assert error["message"] == (
                "The database did not carry out a transaction"
                " (cannot execute INSERT in a read-only transaction); try again later."
            )
            assert trial.state() == "CREATE_IN_PROGRESS"
        trial.arrive()
        assert trial.problems() == []
        assert all(process.running for process in daemons.processes.values())
