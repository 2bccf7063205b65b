# SPDX-License-Identifier: Apache-2.0
"""A whole run: users wish, things go wrong, then all is healed and everything has to be as wished."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from heatconv.client.http import Client, ClientError
from heatconv.db.tables import event, resource, stack, wish
from heatconv.model.states import Status
from heatconv.testing.cloud_client import CloudControl
from tests.chaos import oracle
from tests.chaos.deployment import Deployment
from tests.chaos.driver import DOOMED, Driver, wanted
from tests.chaos.nemesis import Nemesis
from tests.chaos.proxy import Proxy

PATIENCE = 120.0  #: seconds in which everything has to come to rest once all is healed
QUIET = 3  #: looks in a row, a second apart, at which nothing is going on


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a run went."""

    problems: Sequence[str]
    lines: Sequence[str]  #: what there is to tell of it


def play(
    directory: Path,
    *,
    start: int,
    seconds: float,
    database_url: str,
    transport_url: str,
    restart_servers: bool = False,
    stacks: int = 24,
) -> Report:
    """Run heatconv's daemons through some time of chaos, and judge how it ended."""
    urls = (database_url, transport_url)
    with ExitStack() as until:
        proxies = [until.enter_context(Proxy(url)) for url in urls] if restart_servers else []
        deployment = until.enter_context(
            Deployment(directory, database_url=urls[0], transport_url=urls[1], proxies=proxies)
        )
        cloud = CloudControl(deployment.cloud_url)
        nemesis = Nemesis(deployment, cloud, start)
        driver = Driver(deployment.endpoint, start, users=12, stacks=stacks)
        nemesis.start()
        driver.start()
        time.sleep(seconds)
        nemesis.stop()
        driver.stop()
        healed = time.monotonic()
        problems = [*nemesis.problems, *driver.problems, *_rest(deployment)]
        rested = time.monotonic() - healed
        problems += _judge(deployment, cloud, driver)
        twins = list(oracle.twins(cloud.audit()))
        lines = [
            f"{sum(driver.taken.values())} wishes for {stacks} stacks: {_told(driver.taken)}",
            f"{sum(nemesis.counts.values())} misfortunes: {_told(nemesis.counts)}",
            f"{len(cloud.audit())} requests to the cloud, {len(twins)} twins for a moment",
            f"at rest {rested:.0f} s after the last wish",
            deployment.takeovers.told(),
            *deployment.costs(),
            f"{len(problems)} wrong",
        ]
        cloud.cloud.close()
        return Report(problems=problems, lines=lines)


def _rest(deployment: Deployment) -> Iterator[str]:
    """Wait until nothing is going on; yield what still is."""
    deadline = time.monotonic() + PATIENCE
    quiet = 0
    busy = sa.select(sa.func.count()).select_from(stack).where(stack.c.status == Status.IN_PROGRESS)
    wished = sa.select(sa.func.count()).select_from(wish)
    held = sa.select(sa.func.count()).select_from(resource).where(resource.c.engine_id.is_not(None))
    while quiet < QUIET and time.monotonic() < deadline:
        time.sleep(1)
        with deployment.database.connect() as connection:
            going_on = any(connection.scalar(each) for each in (busy, held, wished))
        quiet = 0 if going_on else quiet + 1
    if quiet < QUIET:
        yield f"not at rest after {PATIENCE:.0f} s"


def _judge(deployment: Deployment, cloud: CloudControl, driver: Driver) -> list[str]:
    client = Client(deployment.endpoint)
    try:
        to_be, problems = wanted(client, driver.stacks)
        gone = [each.name for each in driver.stacks if each.name not in to_be]
        problems += [f"{name} should be gone" for name in gone if _is_there(client, name)]
    finally:
        client.close()
    problems += oracle.in_the_cloud(to_be, cloud.owned())
    with deployment.database.connect() as connection:
        problems += oracle.in_the_database(connection)
        failed = sa.select(event).where(
            event.c.status == Status.FAILED,
            event.c.resource_id.is_not(None),
            event.c.resource_name != DOOMED,
        )
        problems += [f"{row.resource_name} failed: {row.status_reason}" for row in connection.execute(failed)]
    return problems


def _is_there(client: Client, name: str) -> bool:
    try:
        client.show_stack(name, resolve_outputs=False)
    except ClientError as error:
        if error.status == 404:
            return False
        raise
    return True


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
