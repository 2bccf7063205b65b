# SPDX-License-Identifier: Apache-2.0
"""The rows that a plan goes by, and how they were found when somebody looked at them last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any

from heatconv.db.convergence import resources
from heatconv.db.observation import observations, taking_up
from heatconv.db.plumbing.session import Database
from heatconv.engine.applying import Counts
from heatconv.model.deferred import references
from heatconv.model.drift import Drift
from heatconv.model.nodes import Direction, Node
from heatconv.model.plan import Plan, Target
from heatconv.model.records import Extant, Job, ResourceRow, changed
from heatconv.model.states import Action
from heatconv.plans.inside import Branch

PORTION = 500  #: rows that are read in one statement


class Known:
    """Reads for one plan."""

    def __init__(self, database: Database, counts: Counts | None) -> None:
        """Keep what is handed in; ``counts`` tells where a drift counts, None: anywhere."""
        self._database = database
        self._counts = counts
        self._read: list[ResourceRow] = []
        self._gone_by = set[str]()  # the ids of rows of what is touched, and of what that requires
        self._wanted_types = set[str]()  # of what is touched
        self.taken_up: dict[str, ResourceRow] = {}  #: what has drifted, as the traversal will have it
        self.drifts: dict[str, Drift] = {}
        self.looked_at: dict[str, datetime] = {}

    def extant(self, branch: Branch) -> list[Extant]:
        """Return the rows of a stack, with the drift that counts."""
        extant = resources.list_extant(self._database, branch.stack.id)
        if self._counts is None:
            return extant
        return [row._replace(drifted=row.drifted and self._counts(branch.below(row.name))) for row in extant]

    def rows(self, branch: Branch, planned: Plan, drifted: AbstractSet[str]) -> dict[str, ResourceRow]:
        """Return the rows that are looked at: those that are reached, and those that they require."""
        names = planned.dirty | self.required(branch, planned)
        ids = sorted({planned.chosen[name] for name in names - planned.created} | planned.garbage)
        found: list[ResourceRow] = []
        for start in range(0, len(ids), PORTION):
            found += resources.get_many(self._database, ids[start : start + PORTION])
        self._read += found
        rows = {row.id: row for row in found}
        self._look_at_drift(branch, rows, drifted & rows.keys())
        return rows

    def go_by(self, ids: Iterable[str]) -> None:
        """Note that the plan goes by rows that were read."""
        self._gone_by.update(ids)

    @property
    def gone_by(self) -> Sequence[ResourceRow]:
        """The rows that it goes by."""
        return [row for row in self._read if row.id in self._gone_by]

    def go_by_type(self, name: str) -> None:
        """Note that the plan goes by the type of something that is wanted."""
        self._wanted_types.add(name)

    @property
    def types(self) -> AbstractSet[str]:
        """The types that it goes by, as they are implemented."""
        made = {row.applied.implemented_by for row in self.gone_by if row.applied is not None}
        return self._wanted_types | made

    def _look_at_drift(
        self, branch: Branch, rows: Mapping[str, ResourceRow], drifted: AbstractSet[str]
    ) -> None:
        """Take down how rows were found when they were looked at last, as far as that holds."""
        self.looked_at |= observations.looked_at(self._database, rows.keys()) if rows else {}
        if drifted:
            self.taken_up |= taking_up.as_taken_up(self._database, drifted)
            names = [rows[each].name for each in drifted]
            found = observations.drifts(self._database, [branch.stack.id], names)
            self.drifts |= {each.resource_id: each for each in found if each.resource_id in drifted}

    @staticmethod
    def required(branch: Branch, planned: Plan) -> set[str]:
        """Return the names of what those that are reached require; and, inside, of what outputs refer to."""
        targets = branch.wanted.targets
        required = set[str]().union(*(targets[name].definition.requires for name in planned.dirty))
        required |= branch.wanted.unsure.keys() - planned.created
        if branch.place:
            values = [output["value"] for output in branch.wanted.raw.outputs.values()]
            required |= {each.resource for each in references(values)} & targets.keys()
        return required


def acting(branch: Branch, action: Action) -> Job:
    """Return the job that a worker would have of a stack, of no resource yet."""
    return Job(
        stack=changed(branch.stack, action=action),
        traversal_id="",
        node=Node("", Direction.UPDATE),
        resource=None,
    )


def as_wanted(row: ResourceRow | None, row_id: str, branch: Branch, target: Target) -> ResourceRow:
    """Return a row as the traversal will have it when a worker claims it."""
    definition = target.definition
    wanted: dict[str, Any] = {
        "desired": definition,
        "desired_sha1": definition.sha1,
        "deletion_policy": definition.deletion_policy,
        "wanted_attributes": tuple(sorted(target.attributes)),
        "replaced_by": None,
    }
    if row is not None:
        now: ResourceRow = changed(row, **wanted)
        return now
    return ResourceRow(
        id=row_id,
        stack_id=branch.stack.id,
        name=definition.name,
        type=definition.type,
        version=0,
        metadata=definition.metadata,
        **wanted,
    )
