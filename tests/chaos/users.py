# SPDX-License-Identifier: Apache-2.0
"""Users who go on asking while daemons are replaced, and who should notice nothing."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from heatconv.client.http import ClientError
from heatconv.testing.templates import Template, Thing
from tests.chaos.trial import Trial, layered
from tests.functional.servers.daemons import Daemons

USERS = 4
UPDATES = 12  #: of each stack
NO_ANSWER = 0  #: the status of a request that found no API, or lost it
DONE = (409, 404)  #: what a create, or a delete, is answered that was taken before
FAULT = 500


class Users:
    """Users who create stacks and change them while these are still on their way."""

    def __init__(self, daemons: Daemons, *, deletes: bool = False) -> None:
        """Take where they ask; ``deletes``: they have a stack deleted before they create the next one."""
        self.trials: list[Trial] = []
        self.deleted: list[Trial] = []
        self.refused: list[str] = []  #: what users got that they should not
        self.counts: Counter[str] = Counter()
        self._daemons = daemons
        self._deletes = deletes
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

    def problems(self) -> list[str]:
        """Return what users got that they should not, and what is wrong once each stack has arrived."""
        problems = list(self.refused)
        for trial in self.trials:
            with closing(trial):
                if trial in self.deleted:
                    trial.vanish()
                else:
                    trial.arrive()
                problems += trial.problems()
        return problems

    def _work(self, user: int) -> None:
        for number in itertools.count():
            trial = Trial(self._daemons, f"u{user}n{number}", layered(2, 3, wait=0.5))
            self.trials.append(trial)
            self._ask(trial.create)
            for value in range(UPDATES):
                if self._stopping.wait(0.5) or self.refused:
                    return
                self._ask(lambda: trial.update(_valued(trial.template, str(value))))  # noqa: B023 - called at once
            if self._deletes:
                self._ask(trial.delete)
                self.deleted.append(trial)

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
                # A create or delete whose answer was lost may have been taken.
                if not (error.status in DONE and self.counts["not answered"]):
                    self.counts["5xx"] += error.status >= FAULT
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
