# SPDX-License-Identifier: Apache-2.0
"""A project's stacks and servers on a real database, where time passes only when a test lets it.

The engine's parts and the worker are the real ones; between them there is no
bus but lists of who was rung for and woken.  What a worker puts off for a short
while happens at once; what it puts off for long happens if it is woken, or when
a test lets time pass.  A server is an id and an agent who reads its metadata.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

import sqlalchemy as sa

from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.assembly.worker import WorkerSettings
from heatconv.db.convergence import services
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.session import Database
from heatconv.db.software.configs import UNLIMITED, Quotas
from heatconv.db.tables import resource, software_config, software_deployment, stack, sync_point
from heatconv.engine.reads import Reads
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.signing import Signer
from heatconv.testing.doorbell import NotedDoorbell
from heatconv.testing.keys import KEYRING
from tests.functional.core.world import HOUR, Worker

CONTEXT = RequestContext(project_id="tests")
SHORT = 20.0  #: seconds that are nothing
SIGNER = Signer(b"secret", "http://heat")

Json = dict[str, Any]


class Agent:
    """What runs on a server: reads what is to be deployed there, and answers for each run once."""

    def __init__(self, stage: Stage, server: str) -> None:
        self._stage = stage
        self._server = server
        self.ran: list[Json] = []

    def poll(self) -> Json:
        """Return the one config that is there to be run and was not run before."""
        known = {config["id"] for config in self.ran}
        found = self._stage.software.list_deployed_configs(CONTEXT, self._server)
        (new,) = [config for config in found if config["id"] not in known]
        self.ran.append(new)
        return new

    def has_nothing_to_do(self) -> bool:
        known = {config["id"] for config in self.ran}
        found = self._stage.software.list_deployed_configs(CONTEXT, self._server)
        return all(config["id"] in known for config in found)

    def signal(self, **details: Any) -> None:
        """Run what there is, and answer with a signal to the URL that came with it."""
        given = inputs_of(self.poll())
        assert given["deploy_signal_verb"] == "POST"
        *_, stack_id, _resources, row_id, _signal = urlsplit(given["deploy_signal_id"]).path.split("/")
        self._stage.signals.signal_resource(CONTEXT, stack_id, unquote(row_id), details)

    def put(self, **values: Any) -> None:
        """Run what there is, and answer by changing the deployment through the API."""
        config = self.poll()
        found = self._stage.software.list_software_deployments(CONTEXT, self._server)
        (deployment,) = [each["id"] for each in found if each["config_id"] == config["id"]]
        self._stage.software.update_software_deployment(CONTEXT, deployment, values)


def inputs_of(config: Json) -> Json:
    """Return the values of a config's inputs by name."""
    return {item["name"]: item.get("value") for item in config["inputs"]}


class Stage:
    """An engine, a worker and a database with a stack called web."""

    def __init__(
        self, url: str, registry: Registry, *, quotas: Quotas = UNLIMITED, timeout: int = 3600
    ) -> None:
        self._url = url
        self._registry = registry
        self._quotas = quotas
        self.bell = NotedDoorbell()
        self.database = Database.from_url(url, KEYRING)
        self._opened = [self.database]
        settings = EngineSettings(
            dead_after=HOUR,
            ready_grace=1,
            default_timeout=timeout,
            software_quotas=quotas,
            signal_url=signal_url,
        )
        engine = Engine(self.database, registry, self.bell, settings)
        self.requests, self.lifecycle, self.preview = engine.requests, engine.lifecycle, engine.preview
        self.signals, self.resource_reads, self.software = (
            engine.signals,
            engine.resource_reads,
            engine.software,
        )
        self._recovery = engine.recovery
        self.worker = self.new_worker()
        self.stack_id = ""

    def close(self) -> None:
        for database in self._opened:
            database.close()

    def new_worker(self) -> PatientWorker:
        """Return a worker with connections of its own, to take the place of the one before."""
        self.worker = PatientWorker(self._url, self._registry, self.bell, self._quotas)
        self._opened.append(self.worker.database)
        return self.worker

    # -- what a user asks for --------------------------------------------------------------

    def create(self, resources: Json, outputs: Json | None = None) -> None:
        source = {"template": template(resources, outputs)}
        self.stack_id = self.requests.create_stack(CONTEXT, "web", source, {})
        self.run()

    def update(self, resources: Json, outputs: Json | None = None) -> None:
        source = {"template": template(resources, outputs)}
        self.requests.update_stack(CONTEXT, self.stack_id, source, {}, existing=False)
        self.run()

    def act(self, action: Callable[[RequestContext, str], Any]) -> None:
        """Ask for an action, such as ``self.lifecycle.suspend_stack``."""
        action(CONTEXT, self.stack_id)
        self.run()

    def delete(self) -> None:
        self.act(self.lifecycle.delete_stack)

    # -- what happens ------------------------------------------------------------------------

    def run(self) -> None:
        """Let everything happen that needs no patience."""
        while self.bell.rung or self.bell.woken or self.bell.preempted or self.worker.is_due():
            while self.bell.preempted:
                _, row_id, traversal_id = self.bell.preempted.pop()
                self.worker.held.give_up(row_id, traversal_id)
            while self.bell.woken:
                self.worker.held.wake(self.bell.woken.pop()[0])
            self.worker.come_back()
            for ring in self.bell.take():
                self.worker.checker.check(*ring)

    def take_over(self) -> None:
        """Let another worker do what the last one, which is dead, has left."""
        services.forget(self.database, self.worker.engine_id)
        self.new_worker()
        self.bell.take()
        self.database.write(lambda connection: connection.execute(_LONG_READY))
        self._recovery.tick()
        self.run()

    # -- what there is -----------------------------------------------------------------------

    def state(self, name: str | None = None) -> str:
        """Return the state of the stack, or of the resource it wants by a name."""
        if name is None:
            (row,) = self.select(stack, stack.c.id == self.stack_id)
        else:
            (row,) = self.rows(name)
        return f"{row.action}_{row.status}"

    def reason(self, name: str) -> str:
        (row,) = self.rows(name)
        return str(row.status_reason)

    def rows(self, name: str) -> list[Any]:
        wanted = (resource.c.stack_id == self.stack_id, resource.c.name == name)
        return self.select(resource, *wanted, resource.c.desired_sha1.is_not(None))

    def deployments(self) -> list[Any]:
        return self.select(software_deployment)

    def configs(self) -> list[Any]:
        return self.select(software_config)

    def output(self, key: str) -> Any:
        return Reads(self.database, dead_after=HOUR).show_output(CONTEXT, self.stack_id, key)["output_value"]

    def select(self, table: sa.Table, *where: sa.ColumnElement[bool]) -> list[Any]:
        def read(connection: sa.Connection) -> list[Any]:
            return [Opened(table, row) for row in connection.execute(sa.select(table).where(*where))]

        return list(self.database.read(read))


class Died(BaseException):
    """A worker was killed: nothing catches that."""


_LONG_READY = sa.update(sync_point).values(ready_at=datetime(2000, 1, 1))  # noqa: DTZ001 - UTC, as all of them


class PatientWorker(Worker):
    """A worker that puts off for good what it puts off for long."""

    def __init__(self, url: str, registry: Registry, bell: NotedDoorbell, quotas: Quotas) -> None:
        self.settings = partial(WorkerSettings, signal_url=signal_url, software_quotas=quotas)
        super().__init__(Database.from_url(url, KEYRING), registry, bell)
        self._put_off: list[Callable[[], None]] = []

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        (self._later if seconds < SHORT else self._put_off).append(function)

    def is_due(self) -> bool:
        return bool(self._later)

    def die_after(self, count: int) -> None:
        """Die as soon as so many more transactions that write have been committed."""
        write, commits = self.database.write, itertools.count(1)

        def then_die(transaction: Callable[[Any], Any]) -> Any:
            result = write(transaction)
            if next(commits) >= count:
                raise Died
            return result

        self.database.write = then_die

    def pass_time(self) -> None:
        """Let pass the time that was to pass."""
        self._later += self._put_off
        self._put_off = []


def template(resources: Json, outputs: Json | None = None) -> Json:
    """Return a template; a resource is told as its type, less ``OS::Heat::``, and its properties."""
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            name: {"type": f"OS::Heat::{type_name}", "properties": dict(properties)}
            for name, (type_name, properties) in resources.items()
        },
        "outputs": {key: {"value": value} for key, value in (outputs or {}).items()},
    }


def signal_url(of_stack: Any, name: str) -> str:
    """Return where a signal can be sent, as the daemons do."""
    return SIGNER.signal_url(of_stack.project_id, of_stack.name, of_stack.id, name)
