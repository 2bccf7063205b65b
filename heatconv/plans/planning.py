# SPDX-License-Identifier: Apache-2.0
"""What will become of a stack and of those nested in it, resource by resource.

The graph is that of the traversal (``graph.traversal.plan``), what is done to a resource is
what a worker decides (``foresight``).  What a resource will give to the next one is passed on as a
worker passes it on, unknown or not.  Nothing is written, and nothing is locked.
"""

from __future__ import annotations

from collections.abc import Mapping

from heatconv.db.convergence import resources
from heatconv.engine import views
from heatconv.engine.applying import Counts
from heatconv.engine.source import NO_SOURCE
from heatconv.graph.dag import in_dependency_order
from heatconv.graph.traversal import plan
from heatconv.model.definition import Definition
from heatconv.model.deletion import LEAVING
from heatconv.model.foreseen import Deed
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.plan import Target
from heatconv.model.records import Job, ResourceRow, changed
from heatconv.model.states import Action
from heatconv.model.unknown import Hang, Place
from heatconv.plans import foresight, outputs, reasons, showing
from heatconv.plans.forecast import Act, Forecast, Reason
from heatconv.plans.foresight import Extent
from heatconv.plans.inside import Branch, Insides, Means
from heatconv.plans.known import Known, acting, as_wanted
from heatconv.plans.leaving import Leaving
from heatconv.plans.said import Said
from heatconv.resources.facts import StackFacts


class Planning:
    """Finds out for one plan; what it has found is in ``forecasts``."""

    def __init__(
        self,
        means: Means,
        insides: Insides,
        *,
        counts: Counts | None = None,
    ) -> None:
        """Keep what is handed in.

        Args:
            means: where stacks are as they are, and their types.
            insides: looks into nested stacks.
            counts: tells where a drift counts; None: anywhere.
        """
        self.known = Known(means.database, counts)
        self.said = Said()
        self._database = means.database
        self._registry = means.registry
        self._insides = insides
        self._leaving = Leaving(means.registry, insides, self.known, self.said)
        self.branches: dict[Place, Branch] = {}  #: the stacks that were looked into, as they will be

    def look(self, branch: Branch, action: Action) -> Mapping[str, NodeData]:
        """Find out what becomes of a stack; return what its resources give, of those that were looked at."""
        if action is Action.DELETE:
            self._leaving.clear(branch)
            return {}
        targets = branch.wanted.targets
        if branch.source is not NO_SOURCE:
            self.branches[branch.place] = branch
        extant = self.known.extant(branch) if branch.exists else []
        planned = plan(branch.stack.id, targets, extant)
        acts = acting(branch, action)
        rows = self.known.rows(branch, planned, {row.id for row in extant if row.drifted})
        given = {
            name: outputs.of_row(rows[planned.chosen[name]])
            for name in self.known.required(branch, planned) - planned.dirty
        }
        order = in_dependency_order({name: targets[name].definition.requires for name in planned.dirty})
        depth: dict[str, int] = {}
        unsure = branch.wanted.unsure.keys() - planned.dirty
        gone_by = set(unsure)
        for name in order:
            target = targets[name]
            depth[name] = 1 + max((depth.get(each, 0) for each in target.definition.requires), default=0)
            row_id = planned.chosen[name]
            before = rows.get(row_id)
            row = as_wanted(self.known.taken_up.get(row_id, before), row_id, branch, target)
            job: Job = changed(
                acts,
                node=Node(row.id, Direction.UPDATE),
                resource=row,
                inputs=tuple(given[each] for each in sorted(target.definition.requires)),
            )
            forecast, given[name] = self._resource(branch, job, before, target)
            forecast.order = depth[name]
            forecast.requires = sorted(target.definition.requires)
            waits = target.definition.requires & planned.dirty
            forecast.after = frozenset(map(branch.below, waits))
            if forecast.act is not Act.NOTHING:
                gone_by |= {name, *target.definition.requires}
                self.known.go_by_type(target.definition.implemented_by)
        self._leaving.clean_up(branch, acts, [rows[row_id] for row_id in planned.garbage])
        for name in sorted(unsure):
            self._leaving.may_go(branch, rows[planned.chosen[name]])
        self.known.go_by(planned.chosen[name] for name in gone_by)
        self.said.untouched += len(targets) - len(planned.dirty) - len(unsure)
        return given

    # -- what is wanted ----------------------------------------------------------------------------

    def _resource(
        self, branch: Branch, job: Job, before: ResourceRow | None, target: Target
    ) -> tuple[Forecast, NodeData]:
        row, place, keys = job.row, branch.below(target.definition.name), sorted(target.attributes)
        forecast = Forecast(
            place=place,
            type=target.definition.type,
            stack_id=branch.stack.id if branch.exists else None,
            row_id=None if before is None else before.id,
            physical_id=None if before is None else before.physical_id,
            holds_data=before is not None and self._insides.holds_data(before.applied),
        )
        seen = foresight.foresee(self._registry, job, lambda each: self._insides.driver(branch, row, each))
        unsure = branch.wanted.unsure.get(target.definition.name)
        match seen:
            case foresight.Made(wanted=wanted, adopted=adopted):
                forecast.act = Act.ADOPT if adopted else Act.CREATE
                forecast.may = frozenset({Deed.CREATE})
                forecast.changes = self._showing(job, wanted).new()
                forecast.because = [Reason("it is not there yet")]
                self.said.touched[forecast.place] = forecast
                given = self._output(branch, job, forecast, wanted, Extent.REPLACE)
            case foresight.Kept() as kept:
                given = self._kept(branch, job, kept, before or row, target, forecast)
            case foresight.Failing(reason):
                forecast.act, forecast.problem = Act.UPDATE if before else Act.CREATE, reason
                given = outputs.opaque(row, place, keys)
            case foresight.UnderWay(action=action):
                forecast.leave_open(f"its {action} is under way")
                given = outputs.opaque(row, place, keys)
            case foresight.Looked():
                forecast.act = Act.CHECK
                given = outputs.opaque(row, place, keys)
            case _:
                given = outputs.of_row(row)
        if unsure is not None:
            forecast.certain = False
            forecast.hangs_on |= unsure.hangs_on
            if before is not None:
                forecast.act = Act.DELETE  # or what else was found, if it stays
                forecast.left_behind = self._leaving.left_behind(before, target.definition.deletion_policy)
            given = outputs.opaque(row, place, keys)
        self.said.add(branch, forecast)
        return forecast, given

    def _showing(self, job: Job, wanted: Definition) -> showing.Showing:
        type_ = self._registry.get(wanted.implemented_by)
        resource = type_(wanted.name, wanted, StackFacts(id="", name="", project_id=""))
        drift, looked_at = self.known.drifts.get(job.row.id), self.known.looked_at.get(job.row.id)
        return showing.Showing(
            wanted=wanted,
            type=resource,
            secrets=job.secrets.union(wanted.secrets),
            live=drift.differences if drift is not None else {},
            observed_at=views.time(looked_at),
        )

    def _kept(
        self,
        branch: Branch,
        job: Job,
        kept: foresight.Kept,
        before: ResourceRow,
        target: Target,
        forecast: Forecast,
    ) -> NodeData:
        wanted = kept.wanted
        if kept.most is not Extent.NOTHING:
            forecast.act = Act.REPLACE if kept.most is Extent.REPLACE else Act.UPDATE
            forecast.certain = kept.least is kept.most
            seen = None if kept.update is None else set(kept.update.update.prop_diff)
            replaced = kept.most is Extent.REPLACE
            forecast.changes = self._showing(job, wanted).changes(before, seen, replaced=replaced)
            drift = self.known.drifts.get(before.id)
            if drift is not None and reasons.heals(forecast.changes, kept.most):
                forecast.act = Act.HEAL
            forecast.replaced_because = kept.reasons if kept.most is Extent.REPLACE else ()
            forecast.problem = kept.problem
            forecast.because = reasons.because(branch, before, target, forecast, drift, self.said.touched)
            deeds = {Extent.UPDATE: Deed.UPDATE, Extent.REPLACE: Deed.REPLACE}
            forecast.may = frozenset(
                deed for extent, deed in deeds.items() if max(kept.least, 1) <= extent <= kept.most
            )
            if branch.in_batches and kept.most is Extent.REPLACE:
                forecast.may |= {Deed.UPDATE}
            self.said.touched[forecast.place] = forecast
            if not forecast.certain:
                forecast.hangs_on = foresight.hangs(wanted)
            if forecast.act is Act.REPLACE:
                forecast.left_behind = self._leaving.left_behind(before, wanted.deletion_policy)
                goes = wanted.deletion_policy not in LEAVING
                if goes and before.applied is not None and self._insides.owned(before.applied):
                    self._leaving.clear_inside(branch, before, forecast.hangs_on)
        return self._output(branch, job, forecast, wanted, kept.most)

    # -- what it gives, and the stack that it owns ---------------------------------------------------

    def _output(
        self, branch: Branch, job: Job, forecast: Forecast, wanted: Definition, extent: Extent
    ) -> NodeData:
        """Return what a resource will give to others."""
        row, place, keys = job.row, forecast.place, list(job.row.wanted_attributes)
        if extent is not Extent.NOTHING and self._insides.owned(wanted):
            return self._owner(branch, job, forecast, wanted, anew=extent is Extent.REPLACE)
        replaced = row if forecast.act is Act.REPLACE and forecast.certain else None
        if extent is Extent.REPLACE:
            row = changed(row, physical_id=None, reference_id=None, data={})
        plugin = self._insides.driver(branch, row, wanted).plugin
        match extent:
            case Extent.NOTHING:
                return outputs.unchanged(row, place, keys, plugin)
            case Extent.UPDATE:
                return outputs.changed(row, place, wanted, keys, plugin)
            case Extent.REPLACE:
                return outputs.made(row, place, wanted, keys, plugin, before=replaced)

    def _owner(
        self, branch: Branch, job: Job, forecast: Forecast, wanted: Definition, *, anew: bool
    ) -> NodeData:
        """Look into the stack that a resource will own, and say of the resource what that comes to."""
        row, keys = job.row, list(job.row.wanted_attributes)
        doubt = branch.doubt | (frozenset() if forecast.certain else forecast.hangs_on)
        known = len(self.said.forecasts)
        inner = self._insides.wanted(branch, wanted, row, anew=anew, doubt=doubt)
        if inner is None:
            forecast.leave_open("what is in it cannot be known yet")
            self._leave_inside_open(branch, row)
            return outputs.opaque(row, forecast.place, keys)
        given = self._insides.outputs(inner, self.look(inner, Action.CREATE if anew else Action.UPDATE))
        branch.stacks.foresee(row.id, inner.stack, given)
        self._stand_in(inner)
        if not anew:
            forecast.weigh(self.said.forecasts[known:])
        owner: ResourceRow = changed(row, physical_id=inner.stack.id)
        plugin = self._insides.driver(branch, owner, wanted).plugin
        return outputs.of_owner(owner, forecast.place, wanted, keys, plugin, anew=anew, inner=given)

    def _stand_in(self, inner: Branch) -> None:
        """Say of members that stand in for others that they are made, and go when these are changed."""
        type_ = next((each.definition.type for each in inner.wanted.targets.values()), "")
        for name in inner.spares:
            for act in (Act.CREATE, Act.DELETE):
                forecast = Forecast(
                    place=inner.below(name),
                    type=type_,
                    stack_id=inner.stack.id,
                    act=act,
                    may=frozenset(Deed) if act is Act.CREATE else frozenset(),
                    opaque=True,
                    certain=not inner.is_unsure,
                    because=[Reason("it stands in for members that are changed", (inner.place,))],
                )
                self.said.add(inner, forecast)

    def _leave_inside_open(self, branch: Branch, row: ResourceRow) -> None:
        """Say that anything may be done to what is in the stack that a row owns."""
        inner = self._insides.going(branch, row, frozenset({Hang(branch.below(row.name))}))
        if inner is None:
            return
        for each in resources.list_resources(self._database, inner.stack.id):
            forecast = Forecast(
                place=inner.below(each.name),
                type=each.type,
                stack_id=inner.stack.id,
                row_id=each.id,
                physical_id=each.physical_id,
                holds_data=self._insides.holds_data(each.applied),
                act=Act.REPLACE,
                may=frozenset(Deed),
                because=[Reason("what its stack is made of cannot be known yet", (inner.place,))],
            )
            self.said.add(inner, forecast)
            self._leave_inside_open(inner, each)
