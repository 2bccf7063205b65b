# SPDX-License-Identifier: Apache-2.0
"""Several engines on one database, which are asked the same at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import sqlalchemy as sa

from heatconv import assembly, errors
from heatconv.assembly.engine import EngineSettings
from heatconv.db.plumbing.session import Database
from heatconv.db.software.configs import Quotas
from heatconv.db.software.project import ProjectSoftware
from heatconv.engine import once
from heatconv.model.ids import new_id
from heatconv.model.software import SoftwareConfig, SoftwareDeployment
from heatconv.plans.plans import Bounds
from heatconv.resources.registry import Registry
from heatconv.rpc.asked import Asked
from heatconv.rpc.context import RequestContext
from heatconv.testing.doorbell import NotedDoorbell
from heatconv.testing.keys import KEYRING
from tests.functional.core.world import at_once

OURS = RequestContext(project_id="ours")
EMPTY = {"heat_template_version": "2021-04-16"}


class Engine:
    """An engine with connections of its own, as it is where every quota is the same; negative: none."""

    def __init__(self, url: str, registry: Registry, quota: int) -> None:
        self.database = Database.from_url(url, KEYRING)
        self.failures: list[str] = []  #: what the database has reported
        self.statements: list[str] = []  #: what it was sent, less what a transaction begins with
        sa.event.listen(self.database.engine, "handle_error", self._note_failure)
        sa.event.listen(self.database.engine, "before_cursor_execute", self._note_statement)
        self.quotas = Quotas(configs=quota, deployments=quota)
        settings = EngineSettings(
            dead_after=60,
            default_timeout=60,
            max_stacks=quota,
            max_snapshots=quota,
            software_quotas=self.quotas,
            plans=Bounds(most=quota),
        )
        engine = assembly.engine.Engine(self.database, registry, NotedDoorbell(), settings)
        self.requests, self.lifecycle, self.software = engine.requests, engine.lifecycle, engine.software
        self.plans = engine.plans

    def _note_failure(self, context: Any) -> None:
        self.failures.append(str(context.original_exception))

    def _note_statement(self, _connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if not statement.startswith("BEGIN"):
            self.statements.append(statement)

    # -- what users ask for --------------------------------------------------------------------

    def create(self, name: str, context: RequestContext = OURS, **options: Any) -> str:
        """Create a stack, which is there at once, since there is nothing in it."""
        return self.requests.create_stack(context, name, {"template": EMPTY}, options)

    def plan(self, name: str) -> str:
        return str(self.plans.create_plan(OURS, None, "create", {"template": EMPTY}, {"name": name})["id"])

    def take_snapshot(self, stack: str) -> str:
        return str(self.lifecycle.create_snapshot(OURS, stack, None)["id"])

    def add_config(self, name: str) -> str:
        return str(self.software.create_software_config(OURS, {"name": name, "config": "echo"})["id"])

    def add_deployment(self, config: str) -> str:
        values = {"config_id": config, "server_id": "a-server"}
        return str(self.software.create_software_deployment(OURS, values)["id"])

    def again(self, part: object, method: str, asked: Asked, **arguments: Any) -> Any:
        """Carry out a request that may have been carried out already, as the bus asks for it."""
        endpoint = once.endpoint(self.database, getattr(part, method), reads=False)
        return endpoint(OURS.to_dict() | {"asked": asdict(asked)}, **arguments)

    # -- what resources of stacks do -----------------------------------------------------------

    def deploy(self, what: str, deployment: str | None = None) -> str:
        """Let a deployment, or a new one, run something else than it does."""
        derived = SoftwareConfig(id=new_id(), run=what)
        wanted = SoftwareDeployment(
            id=deployment or new_id(), server_id="a-server", config_id=derived.id, status="COMPLETE"
        )
        ProjectSoftware(self.database, OURS.project_id, self.quotas).deploy(wanted, derived)
        return wanted.id

    # -- what there is -------------------------------------------------------------------------

    def ids(self, table: sa.Table, *where: sa.ColumnElement[bool]) -> set[str]:
        with self.database.engine.connect() as connection:
            return set(connection.scalars(sa.select(table.c.id).where(*where)))


def all_at_once(engines: Sequence[Engine], call: Callable[[Engine, Any], str], times: int) -> list[str]:
    """Let each engine in turn do something so many times in all, all at once; return what was not refused."""
    calls = [partial(_unless_refused, call, engines[each % len(engines)], each) for each in range(times)]
    return [made for made in at_once(*calls) if made is not None]


def _unless_refused(call: Callable[[Engine, Any], str], engine: Engine, number: int) -> str | None:
    try:
        return call(engine, number)
    except errors.RequestLimitExceeded:
        return None
