# SPDX-License-Identifier: Apache-2.0
"""Who asks does not notice that an engine dies, or stops for a while and then goes on where it was.

Nothing is lost or done twice. ``--minutes`` makes it longer, and looks how long the answers took.
"""

from __future__ import annotations

import os
import time
from collections import Counter

import pytest
import sqlalchemy as sa

from heatconv.db.tables import event, software_config, software_deployment
from heatconv.db.tables import stack as stack_table
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.templates import SERVER
from tests.chaos.asking import Book, Client, Pace, compare
from tests.chaos.hits import Hits

RATE = 20.0  #: requests a second
CLIENTS = 60  #: more than ever wait at a time
COME = 0.2  #: seconds from one client's first request to the next one's: all begin by making something
SECONDS = 12.0  #: that go on when all clients are there


@pytest.mark.long_run
@pytest.mark.timeout(0)
@pytest.mark.parametrize("together", [False, True], ids=["one_at_a_time", "one_after_the_other"])
def test_nobody_who_asks_notices(request, run_daemons, fresh_database, rabbit_url, add_line, together):
    minutes, seed = request.config.getoption("--minutes"), request.config.getoption("--seed")
    kind = request.config.getoption("--database")
    kind = "postgresql" if kind in (None, "sqlite") else kind
    url = fresh_database(kind)
    daemons = run_daemons(
        database_url=url,
        transport_url=rabbit_url,
        pace={"DEFAULT": {"ready_grace": 1.5, "recovery_interval": 0.5}},
        options={"api": {"threads": 32}},
    )
    book, pace = Book(), Pace(RATE)
    hits = Hits(daemons, str(seed or 1), together=together)
    clients = [Client(daemons.endpoint, f"c{n}", pace, book, str(seed or 1)) for n in range(CLIENTS)]
    hits.start()
    for client in clients:
        client.start()
        time.sleep(COME)
    time.sleep(SECONDS if minutes is None else minutes * 60)
    hits.stop()
    pace.over.set()
    for client in clients:
        client.join()
    for line in _figures(kind, together=together, book=book, hits=hits):
        add_line(line)
    cloud = CloudControl(daemons.cloud_url)
    problems = [*book.problems, *hits.problems, *compare(book, _counted(url)), *_of_the_cloud(cloud)]
    cloud.cloud.close()
    assert problems == [], "\n".join(problems)
    seconds = sorted(answer.seconds for answer in book.answers)
    failed = [answer for answer in book.answers if answer.status >= 500]
    if minutes is not None:  # how long it takes says something on a machine that does nothing else
        assert together or failed == []
        assert seconds[-1] < (15 if together else 5)
        assert together or seconds[len(seconds) * 99 // 100] < 1.5


def _figures(kind, *, together, book, hits):
    seconds = sorted(answer.seconds for answer in book.answers)
    failed = [answer for answer in book.answers if answer.status >= 500]
    how = "one shortly after the other" if together else "one at a time"
    yield (
        f"{kind}, {how}: {len(hits.log)} engines hit,"
        f" {len(seconds)} requests, {len(failed)} answers of 5xx,"
        f" p50 {seconds[len(seconds) // 2]:.3f} s, p99 {seconds[len(seconds) * 99 // 100]:.2f} s,"
        f" longest {seconds[-1]:.1f} s"
    )
    kinds = Counter(answer.kind for answer in book.answers)
    yield "  " + ", ".join(f"{count} {each}" for each, count in sorted(kinds.items()))
    if os.environ.get("TELL_ALL"):
        yield from hits.log
        for each in sorted(book.answers, key=lambda a: -a.seconds)[:40]:
            yield f"{each.at:.1f} {each.kind} {each.status} {each.seconds:.2f}"


def _counted(url):
    """Return how often each thing was done, by the thing it was done to."""
    counted: Counter[tuple[str, str]] = Counter()
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        begun = (
            sa.select(stack_table.c.name, event.c.action, sa.func.count())
            .join(stack_table, stack_table.c.id == event.c.stack_id)
            .where(event.c.resource_id.is_(None), event.c.status == "IN_PROGRESS")
            .group_by(stack_table.c.name, event.c.action)
        )
        for name, action, count in connection.execute(begun):
            counted[action, name] = count
        for kind, _table, column in (
            ("config", software_config, software_config.c.name),
            ("deployment", software_deployment, software_deployment.c.server_id),
        ):
            for name in connection.scalars(sa.select(column)):
                counted[kind, name] += 1
    return counted


def _of_the_cloud(cloud):
    """Return the things that were made twice, or are left."""
    made = Counter(
        each.owner
        for each in cloud.audit()
        if each.op == "create" and each.succeeded and each.kind == SERVER  # snapshots leave others
    )
    yield from (f"{owner} was made {count} times" for owner, count in made.items() if count != 1)
    yield from (f"{left['owner']} is left" for left in cloud.owned())
