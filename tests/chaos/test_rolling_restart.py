# SPDX-License-Identifier: Apache-2.0
"""An operator restarts every daemon, one after the other, and no user notices."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import pytest

from heatconv.client.http import ClientError
from heatconv.testing.templates import Template, Thing
from tests.chaos.trial import Trial, layered
from tests.functional.servers.daemons import Daemons

USERS = 4
ROUNDS = 2
REQUESTS = 10  #: that are answered between two restarts
UPDATES = 12  #: of each stack
NO_ANSWER = 0  #: the status of a request that found no API, or lost it
EXISTS = 409


class Users:
    """Users who create stacks and change them while these are still on their way."""

    def __init__(self, daemons: Daemons) -> None:
        self.trials: list[Trial] = []
        self.refused: list[str] = []  #: what users got that they should not
        self.counts: Counter[str] = Counter()
        self._daemons = daemons
        self._news = threading.Condition()
        self._stopping = threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Let the users ask for things meanwhile."""
        threads = [threading.Thread(target=self._work, args=(user,)) for user in range(USERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in threads:
                thread.join()

    def wait_for(self, requests: int) -> None:
        """Wait until so many more were answered."""
        with self._news:
            wanted = self.counts["answered"] + requests
            assert self._news.wait_for(lambda: self.counts["answered"] >= wanted or self.refused, 120)

    def _work(self, user: int) -> None:
        for number in itertools.count():
            trial = Trial(self._daemons, f"u{user}n{number}", layered(2, 3, wait=0.5))
            self.trials.append(trial)
            self._ask(trial.create)
            for value in range(UPDATES):
                if self._stopping.wait(0.5) or self.refused:
                    return
                self._ask(lambda: trial.update(_valued(trial.template, str(value))))  # noqa: B023 - called at once

    def _ask(self, request: Callable[[], None]) -> None:
        """Ask until there is an answer."""
        while True:
            try:
                request()
            except ClientError as error:
                if error.status == NO_ANSWER:
                    self._count("not answered")
                    time.sleep(0.2)
                    continue
                # A create whose answer was lost may have been taken.
                if not (error.status == EXISTS and self.counts["not answered"]):
                    self.refused.append(f"{error.status}: {error}")
            self._count("answered")
            return

    def _count(self, what: str) -> None:
        with self._news:
            self.counts[what] += 1
            self._news.notify_all()


def _valued(template: Template, value: str) -> Template:
    things = {name: each for name, each in template.items() if isinstance(each, Thing)}
    return Template(**{name: replace(each, value=value) for name, each in things.items()})


@pytest.mark.timeout(0)
def test_nobody_notices_that_every_daemon_is_restarted(run_daemons, fresh_database, rabbit_url, add_line):
    url = fresh_database("postgresql")
    daemons = run_daemons(database_url=url, transport_url=rabbit_url, pace={})
    users = Users(daemons)
    seconds: dict[str, float] = {}
    with users.at_work():
        for name in [*daemons.processes] * ROUNDS:
            users.wait_for(REQUESTS)
            begun = time.monotonic()
            assert daemons.processes[name].stop() == 0, f"{name} had to be killed"
            kind = name.partition("-")[0]
            seconds[kind] = max(seconds.get(kind, 0.0), time.monotonic() - begun)
            daemons.start(name)
            daemons.await_up(name)
        users.wait_for(REQUESTS)
    with ExitStack() as until:
        for trial in users.trials:
            until.enter_context(closing(trial))
        problems = list(users.refused)
        for trial in users.trials:
            trial.arrive()
            problems += trial.problems()
    add_line(
        f"{len(daemons.processes) * ROUNDS} restarts during {users.counts['answered']} requests for"
        f" {len(users.trials)} stacks ({users.counts['not answered']} found no API): {len(problems)} wrong;"
        f" the longest until SIGTERM had ended a daemon: "
        + ", ".join(f"{kind} {longest:.1f} s" for kind, longest in seconds.items())
    )
    assert problems == []
