# SPDX-License-Identifier: Apache-2.0
"""heatconv on a Galera cluster: what one node has committed, and a node that dies in the middle of a create.

By hand: ``tox -e chaos -- -k test_clusters``.  Longer, and RabbitMQ and PostgreSQL as well:
``python -m tests.chaos.clusters``.
"""

from __future__ import annotations

import inspect
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pymysql
import pytest
import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception

from heatconv.db.convergence import delegations
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import stack, user_creds
from heatconv.model.delegation import Delegation
from heatconv.model.ids import new_id
from heatconv.testing.keys import KEYRING
from tests.chaos.clusters.balancer import loopback
from tests.chaos.clusters.galera import DATABASE, Galera
from tests.chaos.trial import Trial, layered
from tests.functional.servers import schema
from tests.functional.servers.provision import Unavailable

PATIENCE = 60
THINGS = layered(10, 3, wait=2)
ME = "00000000-0000-4000-8000-000000000001"


@pytest.fixture(scope="module")
def cluster():
    with ExitStack() as until:
        directory = Path(until.enter_context(TemporaryDirectory(prefix="heatconv-galera-")))
        try:
            galera = until.enter_context(Galera(directory, "1"))
        except Unavailable as problem:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(problem))
        schema.migrate(_url(galera, 0))
        yield galera


@pytest.fixture
def nodes(cluster):
    """Return the database as daemons on two of its nodes have it."""
    with closing(_database(cluster, 0)) as one, closing(_database(cluster, 1)) as other:
        for database in (one, other):
            database.read(lambda connection: connection.scalar(sa.select(1)))
        yield one, other


def _url(cluster, number):
    return loopback(cluster.nodes[number].port).set(database=DATABASE).render_as_string()


def _database(cluster, number):
    return Database.from_url(_url(cluster, number), keyring=KEYRING)


@contextmanager
def lagging(cluster, number):
    """Let a node carry out nothing of what others commit until the exit."""
    with (
        closing(
            pymysql.connect(host="127.0.0.1", port=cluster.nodes[number].port, user="root")
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        yield
        cursor.execute("UNLOCK TABLES")


def _added(connection):
    return connection.execute(sa.insert(stack).values(_stack(ME))).rowcount


def _found(connection):
    return connection.scalar(sa.select(sa.func.count()).select_from(stack).where(stack.c.id == ME))


def _dropped(connection):
    return connection.execute(sa.delete(stack).where(stack.c.id == ME)).rowcount


@pytest.mark.timeout(0)
@pytest.mark.parametrize("transaction", [_found, _dropped])
def test_what_one_node_has_committed_another_finds_however_late_it_is(cluster, nodes, transaction):
    """Be it a transaction that reads first, or a conditional write by which it is decided who was faster."""
    one, late = nodes
    run = late.read if transaction is _found else late.write
    with ThreadPoolExecutor() as pool:
        with lagging(cluster, 1):
            one.write(_added)
            asked = pool.submit(run, transaction)
            threading.Event().wait(0.5)  # it waits for the cluster, or has answered already
        assert asked.result(PATIENCE) == 1
    one.write(_dropped)


@pytest.mark.timeout(0)
def test_of_two_delegations_that_nodes_take_at_once_one_is_kept(nodes):
    one, other = nodes
    stack_id = new_id()
    one.write(lambda connection: connection.execute(sa.insert(stack).values(_stack(stack_id))))
    rights = [
        Delegation(id=new_id(), stack_id=stack_id, project_id="p", user_id="u", method="trusts")
        for _ in nodes
    ]
    for right in rights:
        delegations.intend(one, right)
    replace = inspect.unwrap(delegations.replace)
    with one.engine.connect() as first, other.engine.connect() as second:
        late = second.begin()
        with first.begin():
            replace(first, stack_id, rights[0].id)
            replace(second, stack_id, rights[1].id)
        with pytest.raises(oslo_db_exception.DBDeadlock):  # which is tried again, where it is retried
            late.commit()
    delegations.replace(other, stack_id, rights[1].id)
    kept = delegations.of(one, stack_id)
    assert kept is not None
    assert kept.id == rights[1].id
    one.write(lambda connection: connection.execute(sa.delete(user_creds)))
    one.write(lambda connection: connection.execute(sa.delete(stack)))


def _stack(stack_id):
    return {
        "id": stack_id,
        "name": "s",
        "project_id": "p",
        "description": "",
        "raw_template_id": 1,
        "current_traversal": new_id(),
        "action": "CREATE",
        "status": "COMPLETE",
        "status_reason": "",
        "phase": "UPDATE",
        "disable_rollback": True,
        "atomic_key": 0,
        "created_at": utcnow(),
    }


@pytest.mark.timeout(0)
def test_a_create_survives_the_death_of_the_node_that_daemons_are_led_to(
    cluster, run_daemons, rabbit_url, add_line
):
    daemons = run_daemons(database_url=cluster.url(2), transport_url=rabbit_url)
    with closing(Trial(daemons, "galera", THINGS)) as trial:
        trial.create()
        trial.wait_until_made(len(THINGS) // 2)
        cluster.nodes[2].kill()
        took = trial.arrive()
        assert trial.problems() == []
    add_line(f"a Galera node died: CREATE_COMPLETE {took:.0f} s later")
