# SPDX-License-Identifier: Apache-2.0
"""A whole run: users wish, things go wrong, then all is healed and everything has to be as wished.

Then things go on going wrong for a while, with nobody there who would ask again:
what drifts is healed where that is wanted, and nothing else is touched.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa

from heatconv.client.http import Client, ClientError
from heatconv.db.tables import resource, stack, stack_observed, wish
from heatconv.model.drift import Mode
from heatconv.model.states import Action, Status
from heatconv.testing.cloud_client import CloudControl
from tests.chaos import oracle
from tests.chaos.deployment import Deployment, Setting
from tests.chaos.drift import Drift, Drifts, without
from tests.chaos.driver import Driver, wanted
from tests.chaos.nemesis import SOME, Nemesis
from tests.chaos.proxy import Proxy

PATIENCE = 120.0  #: seconds in which everything has to come to rest once all is healed
FOUND = 180.0  #: seconds in which what drifted has to be found, and healed
QUIET = 3  #: looks in a row, a second apart, at which nothing is going on
ALONE = 0.25  #: the part of the time in which nobody wishes anything


class Beside(Protocol):
    """Troubles of the servers that daemons run on."""

    @property
    def setting(self) -> Setting:
        """What the daemons need to know of the servers."""

    @property
    def problems(self) -> Sequence[str]:
        """What went wrong with the troubles themselves."""

    @property
    def lines(self) -> Sequence[str]:
        """Lines of the report."""

    def start(self, deployment: Deployment) -> None:
        """Let them begin; those daemons run on the servers."""

    def stop(self) -> None:
        """Wait until all is healed."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a run went."""

    problems: Sequence[str]
    lines: Sequence[str]  #: the report on it


def play(
    directory: Path,
    *,
    start: int,
    seconds: float,
    database_url: str,
    transport_url: str,
    restart_servers: bool = False,
    stacks: int = 24,
    beside: Beside | None = None,
) -> Report:
    """Run heatconv's daemons through some time of chaos, and judge how it ended.

    ``beside``: whose troubles come beside those of the daemons, which are fewer then.
    """
    urls = (database_url, transport_url)
    with ExitStack() as until:
        proxies = [until.enter_context(Proxy(url)) for url in urls] if restart_servers else []
        deployment = until.enter_context(
            Deployment(
                directory,
                database_url=urls[0],
                transport_url=urls[1],
                proxies=proxies,
                setting=beside.setting if beside else None,
            )
        )
        misfortunes = SOME if beside else None
        cloud = CloudControl(deployment.cloud_url)
        driver = Driver(deployment.endpoint, start, users=12, stacks=stacks)
        judge = Judge(deployment, cloud, driver)
        counts = Counter[str]()

        with_users = Nemesis(deployment, cloud, judge.drifts, f"{start} nemesis", misfortunes)
        with_users.start()
        if beside:
            beside.start(deployment)
        driver.start()
        time.sleep(seconds * (1 - ALONE))
        if beside:
            beside.stop()
        with_users.stop()
        driver.stop()
        healed = time.monotonic()
        problems = [
            *(beside.problems if beside else ()),
            *with_users.problems,
            *driver.problems,
            *judge.rest(users=True),
        ]
        rested = time.monotonic() - healed
        counts += with_users.counts

        alone, took = len(judge.drifts.log), 0.0
        if not problems:
            before, left = len(cloud.audit()), judge.left()
            nobody = Nemesis(deployment, cloud, judge.drifts, f"{start} alone", misfortunes)
            nobody.start()
            if beside:
                beside.start(deployment)
            time.sleep(seconds * ALONE)
            if beside:
                beside.stop()
            nobody.stop()
            healed = time.monotonic()
            problems += [*nobody.problems, *judge.rest(users=False)]
            took = time.monotonic() - healed
            counts += nobody.counts
            problems += judge.untouched(before, [*left, *judge.drifts.log[alone:]])

        twins = list(oracle.twins(cloud.audit()))
        lines = [
            f"{sum(driver.taken.values())} wishes for {stacks} stacks: {listed(driver.taken)}",
            f"{sum(counts.values())} misfortunes: {listed(counts)}",
            f"{len(cloud.audit())} requests to the cloud, {len(twins)} twins for a moment",
            f"{len(judge.drifts.log)} objects drifted: {judge.drift_counts()}",
            f"{len(judge.drifts.log) - alone} of them with no user there, {judge.heals()} healings",
            f"{judge.asked} failed stacks were converged by their users in the end",
            f"at rest {rested:.0f} s after the last wish, and {took:.0f} s after the last misfortune",
            deployment.takeovers.summary(),
            f"{sum(driver.put_off.values())} requests were to be made again",
            *(f"  {count} times {answer}" for answer, count in driver.put_off.most_common(8)),
            *(beside.lines if beside else ()),
            *deployment.costs(),
            f"{len(problems)} wrong",
        ]
        judge.close()
        return Report(problems=problems, lines=lines)


class Judge:
    """Waits until the world is as it should be, and says what is wrong with it."""

    def __init__(self, deployment: Deployment, cloud: CloudControl, driver: Driver) -> None:
        self.drifts = Drifts(cloud, driver.policies)
        self.asked = 0  #: how often users had their stacks converged, which had failed
        self._deployment = deployment
        self._cloud = cloud
        self._driver = driver
        self._client = Client(deployment.endpoint)

    def close(self) -> None:
        self._client.close()
        self._cloud.cloud.close()

    def rest(self, *, users: bool) -> list[str]:
        """Wait until nothing is going on and drift is dealt with; return what is wrong then.

        ``users``: those whose stacks drifted and failed are there, and have them converged.
        """
        begun = time.monotonic()
        problems = [*quiet(self._deployment.database, PATIENCE)]
        while self._is_open(users=users) and time.monotonic() < begun + FOUND:
            problems = [*quiet(self._deployment.database, PATIENCE)]
        return [*problems, *self._problems()]

    def _is_open(self, *, users: bool) -> bool:
        """Tell whether some drift is still to be found, or to be healed."""
        if failed := self._failed():
            if users:
                for name in failed:
                    self._client.converge(name)
                self.asked += len(failed)
            return True
        return any(self._of_drift())

    def _failed(self) -> list[str]:
        """Return the stacks that drift may have let fail, and that somebody has to do something about."""
        failed = sa.select(stack.c.name).where(
            stack.c.name.in_({drift.stack for drift in self.drifts.log}),
            stack.c.live_name.is_not(None),
            stack.c.status == Status.FAILED,
            stack.c.action != Action.DELETE,
        )
        with self._deployment.database.connect() as connection:
            return list(connection.scalars(failed))

    # -- what is wrong ---------------------------------------------------------------------------

    def _problems(self) -> Iterator[str]:
        yield from self._of_drift()
        with self._deployment.database.connect() as connection:
            yield from oracle.in_the_database(connection)
            yield from oracle.failures(connection, self.drifts.log, self._cloud.audit())

    def _of_drift(self) -> Iterator[str]:
        """Yield what is wrong with the world, drift apart that nobody was to heal, and with shown drift."""
        to_be, problems = wanted(self._client, self._driver.stacks)
        yield from problems
        gone = [each.name for each in self._driver.stacks if each.name not in to_be]
        yield from (f"{name} should be gone" for name in gone if self._drift_of(name) is not None)
        left = self.left()
        yield from oracle.in_the_cloud(to_be, without(self._cloud.owned(), left))
        for name, status, drifted in self.drifts.expected(left):
            if name not in to_be:
                continue
            drift = self._drift_of(name) or {}
            known = {(each["physical_resource_id"], each["kind"]) for each in drift["resources"]}
            if known != drifted:
                yield f"{name} is told to have {sorted(known)} drifted, and has {sorted(drifted)}"
            if status not in (None, drift["status"]):
                yield f"{name} is told to be {drift['status']}, and is {status}"

    def _drift_of(self, name: str) -> Mapping[str, Any] | None:
        """Return the drift that the API shows of a stack; None if there is no such stack."""
        try:
            return self._client.show_drift(name)
        except ClientError as error:
            if error.status != 404:
                raise
            return None

    def left(self) -> list[Drift]:
        """Return the drifts that are there still, where nobody was to heal them."""
        own = sa.select(resource.c.physical_id).where(resource.c.desired_sha1.is_not(None))
        with self._deployment.database.connect() as connection:
            stood_for = set(connection.scalars(own))
        return self.drifts.left(self._cloud.owned(), stood_for)

    def untouched(self, before: int, drifts: Sequence[Drift]) -> Iterator[str]:
        """Yield what was done to stacks with nobody asking, since the cloud had had ``before`` requests.

        ``drifts``: what was done behind the service's back and has to be so still.
        """
        policies = self._driver.policies
        healed = {name for name, policy in policies.items() if policy is Mode.HEAL}
        others = {each.name for each in self._driver.stacks} - healed
        yield from oracle.touched(self._cloud.audit(before), others)
        left = {drift.physical_id for drift in self.left()}
        for drift in drifts:
            if drift.stack in others and drift.physical_id not in left:
                yield f"{drift.found['owner']} is {drift.kind} no more, and nobody asked for that"

    def heals(self) -> int:
        """Return how often stacks were healed, of which is still known."""
        with self._deployment.database.connect() as connection:
            return int(connection.scalar(sa.select(sa.func.sum(stack_observed.c.heals))) or 0)

    def drift_counts(self) -> str:
        """Return how many drifts there were, by policy and kind."""
        policies = self._driver.policies
        return listed(Counter(f"{drift.kind} ({policies[drift.stack]})" for drift in self.drifts.log))


def quiet(database: sa.Engine, patience: float) -> Iterator[str]:
    """Wait until nothing is going on; yield what still is."""
    deadline = time.monotonic() + patience
    looks = 0
    busy = sa.select(sa.func.count()).select_from(stack).where(stack.c.status == Status.IN_PROGRESS)
    wished = sa.select(sa.func.count()).select_from(wish)
    held = sa.select(sa.func.count()).select_from(resource).where(resource.c.engine_id.is_not(None))
    while looks < QUIET and time.monotonic() < deadline:
        time.sleep(1)
        with database.connect() as connection:
            going_on = any(connection.scalar(each) for each in (busy, held, wished))
        looks = 0 if going_on else looks + 1
    if looks < QUIET:
        yield f"not at rest after {patience:.0f} s"


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
