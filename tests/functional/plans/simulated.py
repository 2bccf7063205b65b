# SPDX-License-Identifier: Apache-2.0
"""One stack on one thread, with an engine, a worker and a cloud, of whose changes plans are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from heatconv import errors
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import metadata, resource
from heatconv.model.states import Action, Status
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.testing.cloud import IN_PROCESS, AuditEntry
from heatconv.testing.keys import KEYRING
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import Template
from heatconv.testing.trees import source
from tests.chaos.mortal import Boundaries
from tests.chaos.stage import Stage
from tests.plan_judge import judged

Json = dict[str, Any]

ME = RequestContext(project_id="stage", user_name="me")  #: the project that the stage asks in
NAME = "web"


class World:
    """One stack, and all that goes on around it."""

    def __init__(self, url: str) -> None:
        IN_PROCESS.reset()
        self.cloud = IN_PROCESS
        self._boundaries = Boundaries()
        self.database = self._boundaries.of_database(Database.from_url(url, KEYRING))
        metadata.create_all(self.database.engine)
        self.start(Registry.load([PLUGIN_DIR]))

    def start(self, types: Registry) -> None:
        """Let engines and workers run that know these types, in place of those that ran before."""
        self.stage = Stage(self.database, self._boundaries.of_types(types), self._boundaries)
        for _ in range(2):
            self.stage.add_engine()
            self.stage.add_worker()

    def close(self) -> None:
        self.database.close()

    def call(self, method: str, **arguments: Any) -> Any:
        return self.stage.call(ME, method, arguments)

    def create(self, template: Template) -> None:
        self.create_of(source(template))

    def create_of(self, posted: Json) -> None:
        options = {"name": NAME, "disable_rollback": True}
        plan = self.call("create_plan", stack=None, action="create", source=posted, options=options)
        self.apply(plan["id"])

    def plan(self, template: Template, **options: Any) -> Json:
        return self.plan_of(source(template), **options)

    def plan_of(self, posted: Json, **options: Any) -> Json:
        plan = self.call("create_plan", stack=NAME, action="update", source=posted, options=options)
        # The links are the API's.
        del plan["next"]
        return judged(plan | {"links": []})

    def apply(self, plan: str) -> Sequence[AuditEntry]:
        """Apply a plan; return what the cloud was asked for it."""
        begun = len(IN_PROCESS.audit())
        self.call("apply_plan", plan=plan)
        self.stage.run()
        return [
            entry
            for entry in IN_PROCESS.audit(begun)
            if entry.op in ("create", "update", "delete") and entry.succeeded
        ]

    def carry_out(self, plan: Json) -> tuple[str, Sequence[AuditEntry]]:
        """Apply a plan; return how that ended, and what the cloud was asked for it."""
        try:
            asked = self.apply(plan["id"])
        except errors.PlanStale as refusal:
            return str(refusal), []
        return self.state(), asked

    def observe(self) -> None:
        self.call("observe_stack", stack=NAME)

    def owned(self) -> list[Json]:
        return self.cloud.owned(NAME)

    def mark_failed(self, name: str) -> None:
        """Let the row of a resource be one that failed, as if somebody had found it broken."""
        broken = {"action": Action.UPDATE, "status": Status.FAILED}
        with self.database.engine.begin() as connection:
            connection.execute(sa.update(resource).where(resource.c.name == name).values(broken))

    def state(self) -> str:
        shown = self.call("show_stack", stack=NAME, resolve_outputs=False)
        return f"{shown['action']}_{shown['status']} {shown['reason']}"
