# SPDX-License-Identifier: Apache-2.0
"""An engine and a worker in this process: the endpoints are called as the bus calls them.

``ask`` is a call with the id of a request; ``dies_after`` lets the engine die
when it has committed so many transactions of the next one.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from oslo_config import cfg

from heatconv import conf as configuration
from heatconv import errors
from heatconv.cmd.compose import engine, worker
from heatconv.cmd.daemon import Daemon
from heatconv.db import tables
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.session import Database
from heatconv.model.ids import new_id
from heatconv.resources.registry import Registry
from heatconv.rpc import memory
from heatconv.rpc.asked import Asked, note_arrival
from heatconv.rpc.bus import ENGINE_TOPIC, Bus
from heatconv.rpc.context import RequestContext
from heatconv.testing.keys import KEYRING

PROJECT = "once"
PATIENCE = 60

Json = dict[str, Any]


class Died(BaseException):
    """The engine was killed."""


class _Bus(Bus):
    """A bus that keeps the endpoints it is to serve."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__(conf, memory.URL)
        self.methods: Mapping[str, Callable[..., Any]] = {}

    def serve(self, topic: str, server: str, methods: Any, **options: Any) -> Any:
        if topic == ENGINE_TOPIC:
            self.methods = methods
        return super().serve(topic, server, methods, **options)


class _MortalDatabase(Database):
    """A database whose user may die right after a commit."""

    def __init__(self, url: str) -> None:
        super().__init__(KEYRING, connection=url)
        self._fate = threading.local()
        write = self.write

        def write_and_perhaps_die(function: Any) -> Any:
            result = write(function)
            left = getattr(self._fate, "left", None)
            if left is not None:
                self._fate.left = left - 1
                if left == 1:
                    raise Died
            return result

        self.write = write_and_perhaps_die

    def die_after(self, commits: int | None) -> None:
        self._fate.left = commits


class Serving:
    """The engine and the worker, and the world that they have made."""

    def __init__(self, database_url: str, types: Registry) -> None:
        conf = configuration.load([], prog="once", default_config_files=[])
        bus = _Bus(conf)
        self.database = _MortalDatabase(database_url)
        self._daemons, self._services = [], []
        for part in (engine, worker):
            daemon = Daemon(conf, database=self.database, bus=bus, binary="once", topic="once")
            daemon.sign_on()
            self._daemons.append(daemon)
            self._services.append(part.start(daemon, types, "threading"))
        self.endpoints = {name for name in bus.methods if name != "prepare_rollback"}
        self._methods = bus.methods

    def close(self) -> None:
        for service in self._services:
            service.stop()
        for daemon in self._daemons:
            daemon.sign_off()

    def ask(
        self,
        method: str,
        request_id: str | None = None,
        number: int = 1,
        dies_after: int | None = None,
        left: float | None = None,
        **arguments: Any,
    ) -> Any:
        """Call an endpoint as the bus does; a refusal is returned as the user sees it.

        ``left``: the seconds in which the caller waits for the answer, if it says so.
        """
        asked = Asked(request_id or new_id(), time.time(), number, left)
        context = asked.added_to(RequestContext(project_id=PROJECT).to_dict())
        note_arrival(context)
        self.database.die_after(dies_after)
        try:
            return self._methods[method](context, **arguments)
        except errors.UserError as error:
            return type(error).__name__, str(error)
        finally:
            self.database.die_after(None)

    def make(self, name: str, template: Json | None = None, **environment: Any) -> str:
        """Return the id of a stack that is made and rests, or waits at a breakpoint."""
        options = {"stack_id": new_id(), "disable_rollback": True}
        source = {"template": template or empty(), "environment": environment, "files": {}, "parameters": {}}
        stack_id = str(self.ask("create_stack", name=name, source=source, options=options))
        self.rest()
        return stack_id

    def make_waiting(self, name: str, owners: int) -> str:
        """Return the id of a stack of so many resources that are to own stacks, and wait at breakpoints."""
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"resource_def": {"type": "OS::Heat::None"}},
        }
        resources = {f"G{number}": group for number in range(owners)}
        waits = {"resources": {name: {"hooks": "pre-create"} for name in resources}}
        stack_id = self.make(name, empty() | {"resources": resources}, resource_registry=waits)
        deadline = time.monotonic() + PATIENCE
        while len(self.held(stack_id)) < owners:
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)
        return stack_id

    def held(self, stack_id: str) -> list[Json]:
        """Return the claims on a stack's rows that wait at a breakpoint, by name."""
        resource = tables.resource
        rows = self.read(
            sa.select(resource.c.id, resource.c.engine_id, resource.c.atomic_key)
            .where(resource.c.stack_id == stack_id, resource.c.hook.is_not(None))
            .order_by(resource.c.name)
        )
        return [dict(zip(("id", "engine_id", "atomic_key"), row, strict=True)) for row in rows]

    def rest(self) -> None:
        """Wait until no stack is under way that does not wait for a user."""
        held = sa.select(tables.resource.c.stack_id).where(tables.resource.c.hook.is_not(None))
        going_on = sa.select(tables.stack.c.id).where(
            tables.stack.c.status == "IN_PROGRESS", tables.stack.c.id.not_in(held)
        )
        deadline = time.monotonic() + PATIENCE
        while self.read(going_on):
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)

    def read(self, query: Any) -> list[Any]:
        with self.database.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]

    def opened(self, table: sa.Table, query: Any, *names: str) -> list[Any]:
        """Return columns of the rows of a table that a query finds, by default all of them."""
        with self.database.engine.connect() as connection:
            rows = [Opened(table, row) for row in connection.execute(query)]
        return [tuple(getattr(row, name) for name in names or table.c.keys()) for row in rows]

    def everything(self) -> dict[str, Any]:
        """Return the rows of the database, but for tables that change by the clock."""
        by_clock = {"service", "stack_observed", "request", "purge_turn"}
        rows_by_table = {
            table.name: self.opened(table, sa.select(table).order_by(*table.primary_key))
            for table in tables.metadata.sorted_tables
            if table.name not in by_clock
        }
        rows_by_table["event"] = [row for row in rows_by_table["event"] if "OBSERVE" not in row]
        return rows_by_table

    def world(self, name: str) -> dict[str, Any]:
        """Return the rows of the stacks and the software of a name, the same whatever the name is."""
        stack, event, resource = tables.stack, tables.event, tables.resource
        mine = stack.c.name.startswith(name, autoescape=True)
        made = {
            "stacks": self.read(
                sa.select(
                    stack.c.name,
                    stack.c.action,
                    stack.c.status,
                    stack.c.description,
                    stack.c.deleted_at.is_(None),
                ).where(mine)
            ),
            "begun": self.read(
                sa.select(stack.c.name, event.c.action, event.c.status)
                .join(stack, stack.c.id == event.c.stack_id)
                .where(stack.c.name == name, event.c.resource_id.is_(None))
            ),
            "resources": self.opened(
                resource,
                sa.select(resource).join(stack, stack.c.id == resource.c.stack_id).where(mine),
                *("name", "action", "status", "metadata"),
            ),
            "snapshots": self.read(
                sa.select(tables.snapshot.c.name, tables.snapshot.c.status)
                .join(stack, stack.c.id == tables.snapshot.c.stack_id)
                .where(mine)
            ),
            "configs": self.read(
                sa.select(tables.software_config.c.group).where(
                    tables.software_config.c.name.startswith(name, autoescape=True)
                )
            ),
            "deployments": self.opened(
                tables.software_deployment,
                sa.select(tables.software_deployment).where(
                    tables.software_deployment.c.server_id.startswith(name, autoescape=True)
                ),
                *("status", "output_values"),
            ),
        }
        own = re.compile(rf"{name}(-G-\w+)?")  # those nested have names by chance
        return {key: Counter(own.sub("NAME", repr(row)) for row in rows) for key, rows in made.items()}


def empty(description: str = "nothing") -> Json:
    return {"heat_template_version": "2021-04-16", "description": description}


def holding(type_: str = "OS::Heat::WaitConditionHandle", **properties: Any) -> Json:
    return empty() | {"resources": {"H": {"type": type_, "properties": properties}}}


def wanted(name: str, owners: list[Json], *sources: Json) -> Json:
    """Return what ``create_nested_stacks`` is asked for: a stack of each owner, each of its source."""
    parts: list[Any] = []
    asked = []
    for number, (owner, source) in enumerate(zip(owners, sources, strict=True)):
        numbered = {key: len(parts) + at for at, key in enumerate(source)}
        parts += source.values()
        options = {"owner": owner, "disable_rollback": True}
        asked.append({"name": f"{name}{number or ''}", "options": options, "source": numbered})
    return {"wanted": asked, "parts": parts}
