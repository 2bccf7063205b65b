# SPDX-License-Identifier: Apache-2.0
"""What becomes of resources that nothing wants any more, and of the stacks that they own."""

from __future__ import annotations

from heatconv.graph import traversal
from heatconv.model.deletion import LEAVING
from heatconv.model.nodes import Direction, Node
from heatconv.model.records import Job, ResourceRow, changed
from heatconv.model.states import Action, DeletionPolicy
from heatconv.model.unknown import Hang
from heatconv.plans import foresight, reasons
from heatconv.plans.forecast import Act, Forecast, Reason
from heatconv.plans.inside import Branch, Insides
from heatconv.plans.known import Known, acting
from heatconv.plans.said import Said
from heatconv.resources.registry import Registry


class Leaving:
    """Finds out for one plan what goes, and what it says of that."""

    def __init__(self, registry: Registry, insides: Insides, known: Known, said: Said) -> None:
        """Keep what is handed in."""
        self._registry = registry
        self._insides = insides
        self._known = known
        self._said = said

    def clear(self, branch: Branch) -> None:
        """Say what becomes of all that is in a stack, now that the stack goes."""
        extant = self._known.extant(branch)
        planned = traversal.clear(branch.stack.id, extant)
        rows = self._known.rows(branch, planned, {row.id for row in extant if row.drifted})
        self.clean_up(branch, acting(branch, Action.DELETE), [rows[row_id] for row_id in planned.garbage])

    def clear_inside(self, branch: Branch, row: ResourceRow, doubt: frozenset[Hang]) -> None:
        """Say what becomes of what is in the stack that a row owns, now that the row goes."""
        inner = self._insides.going(branch, row, doubt)
        if inner is not None:
            self.clear(inner)

    def clean_up(self, branch: Branch, job: Job, rows: list[ResourceRow]) -> None:
        """Say what becomes of rows that nothing wants any more; ``job`` is of no resource yet."""
        for row in sorted(rows, key=lambda each: (each.name, each.id)):
            self._clean_up(branch, job, row)
        self._known.go_by(row.id for row in rows)

    def _clean_up(self, branch: Branch, job: Job, row: ResourceRow) -> None:
        policy = row.deletion_policy
        target = branch.wanted.targets.get(row.name)
        if target is not None:
            policy = target.definition.deletion_policy
        going: ResourceRow = changed(row, desired=None, desired_sha1=None, deletion_policy=policy)
        its: Job = changed(job, node=Node(row.id, Direction.CLEANUP), resource=going)
        seen = foresight.foresee(self._registry, its, lambda each: self._insides.driver(branch, going, each))
        if not isinstance(seen, foresight.Deleted):
            return
        definition = seen.definition
        stays = definition.external_id is not None or definition.deletion_policy in LEAVING
        if not stays and self._insides.owned(definition):
            self.clear_inside(branch, row, branch.doubt)
        self._said.add(
            branch,
            Forecast(
                place=branch.below(row.name),
                type=row.type,
                stack_id=branch.stack.id,
                row_id=row.id,
                physical_id=row.physical_id,
                holds_data=self._insides.holds_data(row.applied),
                act=Act.RETAIN if stays else Act.DELETE,
                left_behind=self.left_behind(row, definition.deletion_policy),
                because=[Reason("nothing wants it any more")],
            ),
        )

    def may_go(self, branch: Branch, row: ResourceRow) -> None:
        """Say of a resource that is as wanted that nobody knows yet whether it is wanted at all."""
        hangs_on = branch.wanted.unsure[row.name].hangs_on
        if row.applied is not None and self._insides.owned(row.applied):
            self.clear_inside(branch, row, branch.doubt | hangs_on)
        forecast = Forecast(
            place=branch.below(row.name),
            type=row.type,
            stack_id=row.stack_id,
            row_id=row.id,
            physical_id=row.physical_id,
            holds_data=self._insides.holds_data(row.applied),
            act=Act.DELETE,
            certain=False,
            hangs_on=hangs_on,
            left_behind=self.left_behind(row, branch.wanted.targets[row.name].definition.deletion_policy),
            because=[Reason("its condition cannot be known yet")],
        )
        self._said.add(branch, forecast)

    def left_behind(self, row: ResourceRow, policy: DeletionPolicy) -> str | None:
        """Return what stays of a row's resource when that goes by a deletion policy; None: nothing."""
        made = row.applied
        return reasons.left_behind(policy, None if made is None else self._registry.get(made.implemented_by))
