# SPDX-License-Identifier: Apache-2.0
"""Takes a resource of a cloud through its life over and over, each time with other deaths.

Engines and workers are on one thread, as for the fake cloud (``tests.chaos.stage``);
the services are real.  A worker dies at each boundary behind which the world is another
one for whoever comes after it: a transaction that wrote is committed, a service has
carried out a request, a message is sent.  (That to die inside a transaction is to die before it is
what ``tests/chaos`` tries.)
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from keystoneauth1.session import Session

from heatconv import conf as configuration
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import event, metadata
from heatconv.openstack import adapter
from heatconv.resources.registry import Registry
from heatconv.testing.keys import KEYRING
from tests.chaos import mortal, oracle, unknown
from tests.chaos.stage import Process, Stage
from tests.cloud.kinds import KINDS, Properties, resources
from tests.cloud.world import LOOK, World

MUTATING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
WRITING = frozenset({"INSERT", "UPDATE", "DELETE"})
MOST = 200  #: boundaries after which something goes round in circles


class Fate(mortal.Fate):
    """Passes over the boundaries behind which the world is what it was for everybody else."""

    def __init__(self, last: int | None) -> None:
        super().__init__(last)
        self._wrote = False
        self._same = True  # as it was at the boundary passed last

    def at(self, boundary: str) -> None:
        when, what, *_ = boundary.split()
        if self.dead:
            raise mortal.Death(boundary)
        if when == "after" and what in WRITING:
            self._wrote = True
        if self._is_another_world(boundary, what):
            super().at(boundary)

    def _is_another_world(self, boundary: str, what: str) -> bool:
        if boundary == "after COMMIT":
            wrote, self._wrote = self._wrote, False
            return wrote
        return boundary in (AFTER_A_REQUEST, "after the casts")


AFTER_A_REQUEST = "after a request to the cloud"


@dataclass
class Life:
    """How one life went: how many boundaries the worker of each operation passed, and what was wrong."""

    passed: dict[str, int] = field(default_factory=dict)
    died: bool = False  #: in any of them
    problems: list[str] = field(default_factory=list)


class Bench:
    """Engines and workers whose types are those of a world's cloud, as its user or as its administrator."""

    def __init__(self, world: World, cloud: str, directory: Path) -> None:
        """Take the name of a cloud of the world's ``clouds.yaml``."""
        self._world = world
        self._exit = contextlib.ExitStack()
        self._boundaries = mortal.Boundaries()
        url = f"sqlite:///{directory}/{cloud}.sqlite"
        self.database = self._boundaries.of_database(Database.from_url(url, KEYRING))
        self.database.groups_abreast = sys.maxsize
        metadata.create_all(self.database.engine)
        patch = self._exit.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(world.login.clouds))
        for name in [
            each for each in os.environ if each.startswith("OS_") and each != "OS_CLIENT_CONFIG_FILE"
        ]:
            patch.delenv(name)
        self._registry = Registry.load()
        conf = configuration.load([], prog="test", default_config_files=[])
        adapter.adapt(self._registry, conf, cloud)
        patch.setattr(Session, "_send_request", self._stepped(Session._send_request))
        logging.disable(logging.CRITICAL)

    def close(self) -> None:
        logging.disable(logging.NOTSET)
        self._exit.close()
        self.database.close()

    def _stepped(self, plain: Any) -> Any:
        """Return how requests are sent, with a boundary behind each that changes something."""

        def send(session: Any, url: str, method: str, *args: Any, **kwargs: Any) -> Any:
            self._boundaries.at("before a request")  # a dead worker sends none
            answer = plain(session, url, method, *args, **kwargs)
            if method in MUTATING and not url.endswith("/auth/tokens"):
                self._boundaries.at(AFTER_A_REQUEST)
            return answer

        return send

    # -- lives ---------------------------------------------------------------------------------------

    def lives(self, kind: str, start: int = 1, step: int = 1) -> Iterator[tuple[int, Life]]:
        """Yield how each life of a kind went, by the number of the boundary at which each worker died.

        The last is the one in which all of them survived.  ``start`` and ``step`` leave some out.
        """
        resources(kind, self._world)  # the resources it depends on are there now
        self._world.begin(KINDS[kind].listed)
        for last in itertools.count(start, step):
            life = self.live(kind, last)
            yield last, life
            if not life.died:
                return
            assert last < MOST, f"{kind} never comes to an end"

    def live(self, kind: str, last: int) -> Life:
        """Create, update and delete one; each time the worker dies at its boundary of that number."""
        changes, made = KINDS[kind], resources(kind, self._world)
        self._empty()
        life, name = Life(), f"{self._world.name}-{secrets.token_hex(2)}"
        self._do(life, last, "create", "create_stack", name, _source(made), {"disable_rollback": True})
        first = self._expect(life, kind, "create", 1)
        for change in filter(None, (changes.changed, changes.replaced)):
            self._update(life, last, kind, name, change, first)
        self._do(life, last, "delete", "delete_stack", name)
        self._expect(life, kind, "delete", 0)
        return life

    def _update(
        self, life: Life, last: int, kind: str, name: str, change: Properties, first: frozenset[str]
    ) -> None:
        what = "replace" if change is KINDS[kind].replaced else "update"
        source = _source(resources(kind, self._world, change))
        self._do(life, last, what, "update_stack", name, source, {"disable_rollback": True})
        then = self._expect(life, kind, what, 1)
        if what == "replace" and then == first:
            life.problems.append("it was not replaced")

    def _do(self, life: Life, last: int, what: str, method: str, *arguments: Any) -> None:
        """Ask for something, and let everything happen that follows from it."""
        stage = _Stage(self.database, self._registry, self._boundaries)
        stage.add_engine()
        worker = stage.add_worker()
        worker.fate = Fate(last)
        stage.add_worker()
        refusal = stage.ask(method, *arguments)
        if refusal is not None:
            life.problems.append(f"{what} was refused: {refusal}")
        try:
            stage.run()
        except AssertionError as error:
            life.problems.append(f"{what}: {error}")
        life.passed[what] = len(worker.fate.passed)
        life.died |= worker.fate.dead
        if worker.fate.dead and life.problems:
            life.problems.append(f"({what} died {worker.fate.passed[-1]})")

    def _expect(self, life: Life, kind: str, what: str, count: int) -> frozenset[str]:
        """Note the problems there are: in the world, and in the database."""
        found = self._world.comes_to_have(KINDS[kind].listed, count)
        if len(found) != count:
            life.problems.append(f"after {what} there are {sorted(found)}")
        with self._boundaries.of_nobody(), self.database.engine.connect() as connection:
            life.problems += [f"after {what}: {each}" for each in oracle.in_the_database(connection)]
            for row in connection.execute(sa.select(event).where(oracle.FAILED | unknown.NAMING)):
                life.problems.append(f"after {what}: {row.resource_name}: {row.status_reason}")
        return found

    def _empty(self) -> None:
        with self._boundaries.of_nobody(), self.database.engine.begin() as connection:
            for table in metadata.sorted_tables:
                connection.execute(sa.delete(table))


class _Stage(Stage):
    """One whose timers go on jumping, but not faster than a service can be asked."""

    def _perform(self, process: Process, what: str, function: Any) -> None:
        if what == "a timer":
            threading.Event().wait(LOOK)
        super()._perform(process, what, function)


def _source(made: Mapping[str, Any]) -> dict[str, Any]:
    return {"template": {"heat_template_version": "2021-04-16", "resources": dict(made)}}
