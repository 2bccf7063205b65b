# SPDX-License-Identifier: Apache-2.0
"""Bind plugins to rows: what a plugin is given to know of its stack, and what it may write."""

from __future__ import annotations

from collections.abc import Callable

from heatconv import errors
from heatconv.db.convergence import resources
from heatconv.db.plumbing.session import Database
from heatconv.db.software.configs import Quotas
from heatconv.db.software.project import ProjectSoftware
from heatconv.model.definition import Definition
from heatconv.model.records import Job, Stack
from heatconv.resources.driver import PluginDriver, driven
from heatconv.resources.facts import Incarnation, Peer, StackFacts
from heatconv.resources.registry import Registry
from heatconv.worker.engines import Engines
from heatconv.worker.keeper import RowKeeper
from heatconv.worker.nested import Beside, OwnedStacks

SignalUrl = Callable[[Stack, str], str]  #: of a stack and the name of a resource in it


def no_signal_url(_stack: Stack, name: str) -> str:
    """Refuse to tell where a signal can be sent, where nobody could receive one."""
    raise errors.NotSupported(feature=f"Sending signals to resource {name} here")


class PluginFactory:
    """Makes the plugins of the rows that a worker acts on, each with its driver."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        *,
        signal_url: SignalUrl,
        software_quotas: Quotas,
        engines: Engines | None,
    ) -> None:
        """Keep what is handed in.

        Args:
            signal_url: where a signal to a stack's resource of some name can be sent.
            software_quotas: how many software configs and deployments a project may have.
            engines: who makes nested stacks; None where there are none.
        """
        self._database = database
        self._registry = registry
        self._signal_url = signal_url
        self._software_quotas = software_quotas
        self._engines = engines
        self._beside = Beside(database)

    def make(self, job: Job, definition: Definition) -> PluginDriver:
        """Return what drives the plugin of a row, as ``definition`` has it."""
        row = job.row
        type_ = self._registry.get(definition.implemented_by)
        keeper = RowKeeper(
            self._database, row, only_here=type_.only_here, notes_may_wait=type_.notes_may_wait
        )
        return driven(type_, row.name, definition, self._facts(job), Incarnation.of(row), keeper)

    def make_alone(self, job: Job, definition: Definition) -> PluginDriver:
        """Return one that knows nobody to ask, and keeps nothing: for who is not to wait for anybody."""
        row, stack = job.row, job.stack
        facts = StackFacts(id=stack.id, name=stack.name, project_id=stack.project_id, action=stack.action)
        type_ = self._registry.get(definition.implemented_by)
        return driven(type_, row.name, definition, facts, Incarnation.of(row), None)

    def _facts(self, job: Job) -> StackFacts:
        stack = job.stack
        return StackFacts(
            id=stack.id,
            name=stack.name,
            project_id=stack.project_id,
            action=stack.action,
            current_traversal=stack.current_traversal,
            timeout_mins=stack.timeout_mins,
            deadline=stack.deadline,
            context=self._registry.context(stack),
            resource_by_refid=lambda refid: self._peer(job, refid),
            signal_url=lambda name: self._signal_url(stack, name),
            required_by=lambda name: resources.requirers(self._database, stack.id, name),
            software=ProjectSoftware(self._database, stack.project_id, self._software_quotas),
            nested=OwnedStacks(self._database, self._engines, job, self._beside) if self._engines else None,
        )

    def _peer(self, job: Job, refid: str) -> Peer | None:
        """Return the resource of a reference id, of those that a job's resource requires."""
        required = {*job.row.requires, *(data.resource_id for data in job.inputs)}
        rows = resources.get_many(self._database, required)
        return next((Peer.of(row) for row in rows if row.reference_id == refid), None)
