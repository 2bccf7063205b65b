# SPDX-License-Identifier: Apache-2.0
"""Keep looking whether what was built still is as it was built.

Every engine runs the tick; there is no leader.  Stacks take turns, spread over
the interval of their policies, and are looked at together as far as one call
to a service can tell of many.  A large one takes several turns for a round.
"""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from heatconv.db.convergence import stacks
from heatconv.db.observation import observable, observations, schedule
from heatconv.db.observation.schedule import DueStack, Looked
from heatconv.db.plumbing.session import Database
from heatconv.model.drift import DriftStatus, Handling, Mode, mode_of
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.states import Status
from heatconv.observer.healing import Healing
from heatconv.observer.observing import MANY, Observing, Seen
from heatconv.observer.policies import Defaults

LOG = logging.getLogger(__name__)

STACKS = 500  #: stacks whose turns one engine takes at a time
LEASE = 30.0  #: seconds until the turns that a dead engine took are due again
ASLEEP = 86400.0  #: seconds until a stack that nobody wants observed is asked for again
BUSY = 30.0  #: seconds, at most, until a stack that is being changed is looked at again
ADOPT = 10.0  #: seconds between two looks for stacks that nobody said anything about


class Observer:
    """The scheduler of one engine."""

    def __init__(
        self,
        *,
        database: Database,
        observing: Observing,
        healing: Healing,
        defaults: Defaults,
        wake: Callable[[str, str | None], None],
    ) -> None:
        """Keep what is handed in; ``wake`` tells a worker of a row, and may be lost."""
        self._wake = wake
        self._database = database
        self._observing = observing
        self._healing = healing
        self._defaults = defaults
        self._adopted = 0.0
        self._stopped = False
        self._checked: set[str] = set()  #: stacks to be looked over when what goes on there has ended

    def stop(self) -> None:
        """Begin nothing new."""
        self._stopped = True

    def tick(self) -> None:
        """Look at what is due, and do what is to be done now and then."""
        now = time.monotonic()
        if self._defaults.mode is not Mode.OFF and now > self._adopted + ADOPT:
            interval = self._defaults.interval
            if not schedule.make_unknown_known(self._database, limit=STACKS, spread=interval):
                self._adopted = now
        self._look_after()
        while not self._stopped and (due := schedule.due(self._database, STACKS)):
            taken = schedule.take(self._database, due, lease=LEASE)
            if not taken:
                return  # others were faster
            self._look(taken)

    def look_at(self, physical_ids: Collection[str], *, project_id: str | None = None) -> set[str]:
        """Look at once at what stands for some things in the real world, and heal it if it is to be healed.

        The one entrance for whoever hears that something has happened to them;
        with ``project_id``, to those in that project's stacks.  Who waits for an
        action on one of them is woken.  Of stacks that are not observed nothing
        else is looked at.  Returns the things to be looked
        at once more, since somebody is at work on them or on their stacks.
        """
        free, busy = observable.by_physical_id(self._database, physical_ids, project_id)
        if not free and not busy:
            return set()
        for row in busy:
            if row.engine_id is not None:
                self._wake(row.id, row.engine_id)
        root_of = observable.roots_of(self._database, {row.stack_id for row in (*free, *busy)})
        roots = stacks.get_many(self._database, set(root_of.values()))
        root_by_stack = {
            stack_id: roots[root_id]
            for stack_id, root_id in root_of.items()
            if root_id in roots and self._defaults.mode_of(roots[root_id]) is not Mode.OFF
        }
        free = [row for row in free if row.stack_id in root_by_stack]
        again = [row for row in busy if row.stack_id in root_by_stack]
        for root_id in sorted({root_by_stack[row.stack_id].id for row in free}):
            schedule.make_known(self._database, root_id)
        seen = self._observe(root_by_stack, free)
        again += [row for row in free if row.id in seen.unseen]
        drifted = [finding.row for finding in seen.findings if finding.kind is not None]
        for root_id in sorted({root_of[row.stack_id] for row in drifted}):
            tree = list(observable.trees(self._database, [root_id]))
            schedule.note(self._database, root_id, DriftStatus.DRIFTED, whole=False)
            if not self._heal(roots[root_id], tree, seen) and self._is_busy(root_id):
                again += [row for row in drifted if root_of[row.stack_id] == root_id]
            # Where one thing was lost there may be more, of which nobody has told yet.
            schedule.hurry(self._database, root_id, within=BUSY)
        return {row.physical_id for row in again if row.physical_id is not None}

    def look_over(self, stack: Stack, name: str | None, *, to_converge: bool = False) -> None:
        """Look at a stack, or at one resource, with what is nested in it, whatever the policy.

        What has drifted is healed if the policy says so; or, ``to_converge``,
        left to a traversal that is about to be started, held back or not.
        """
        root_id = observable.roots_of(self._database, [stack.id])[stack.id]
        root = stacks.get(self._database, root_id) or stack
        rows = observable.rows(self._database, [stack.id], names=name and [name])
        owners = None if name is None else [row.id for row in rows]
        inside = observable.nested_in(self._database, [stack.id], owners)
        tree = observable.trees(self._database, inside)
        rows += observable.rows(self._database, tree) if tree else []
        self.look_now(root, rows, whole=name is None and stack.id == root_id, heal=not to_converge)
        if to_converge:
            ids = [row.id for row in rows]
            observations.set_handling(self._database, [stack.id, *tree], Handling.OPEN, ids)
            if tree:
                observations.mark_owners(self._database, observable.trees(self._database, [root_id]))

    def look_after(self, stack_id: str) -> None:
        """Look over a stack when what has begun there is at its end; forgotten if this engine ends before."""
        self._checked.add(stack_id)

    def look_now(
        self, root: Stack, rows: Sequence[ResourceRow], *, whole: bool = False, heal: bool = True
    ) -> Seen:
        """Look at some rows of a root stack, ``whole``: at all of them, whatever its policy."""
        schedule.make_known(self._database, root.id)
        tree = list(observable.trees(self._database, [root.id]))
        seen = self._observe(dict.fromkeys(tree, root), rows, insist=True)
        drifted = {root.id} if observable.drifted(self._database, tree) else set()
        if whole or drifted:
            unclear = seen.unseen or observable.unwell(self._database, tree)
            status = status_of(root.id, drifted, {root.id} if unclear else set())
            schedule.note(self._database, root.id, status, whole=whole)
        if heal:
            self._heal(root, tree, seen)
        return seen

    def has_drifted(self, stack: Stack, rows: Sequence[ResourceRow]) -> bool:
        """Look at some rows of a stack's tree, heal nothing, and tell whether any has drifted."""
        root_id = observable.roots_of(self._database, [stack.id])[stack.id]
        root = stacks.get(self._database, root_id) or stack
        seen = self.look_now(root, rows, heal=False)
        if any(finding.kind is not None and finding.row.stack_id != root.id for finding in seen.findings):
            observations.mark_owners(self._database, observable.trees(self._database, [root.id]))
        return any(finding.kind is not None for finding in seen.findings)

    def _look_after(self) -> None:
        if not self._checked:
            return
        known = stacks.get_many(self._database, set(self._checked))
        for stack_id in tuple(self._checked):
            stack = known.get(stack_id)
            if stack is None or stack.status is not Status.IN_PROGRESS:
                self._checked.discard(stack_id)
                if stack is not None and not stack.deleted_at:
                    self.look_over(stack, None)

    # -- turns -----------------------------------------------------------------------------------

    def _look(self, taken: Sequence[DueStack]) -> None:
        off = [
            each for each in taken if each.stack.deleted_at or self._defaults.mode_of(each.stack) is Mode.OFF
        ]
        if off:
            schedule.end(self._database, [Looked(turn=turn, again_in=ASLEEP) for turn in off])
        wanted = {each.stack.id: each for each in taken if each not in off}
        root_of = observable.trees(self._database, wanted.keys()) if wanted else {}
        sizes: Counter[str] = Counter()
        for stack_id, number in observable.count(self._database, root_of).items() if root_of else ():
            sizes[root_of[stack_id]] += number
        large = {root for root in wanted if wanted[root].cursor or sizes[root] > self._defaults.portion}
        for pack in _packs([root for root in wanted if root not in large], sizes):
            self._look_together([wanted[root] for root in pack], root_of)
        for root in sorted(large):
            self._look_on(wanted[root], [each for each in root_of if root_of[each] == root], sizes[root])

    def _look_together(self, pack: Sequence[DueStack], root_of: Mapping[str, str]) -> None:
        """Look at all of some small stacks."""
        turn_of = {turn.stack.id: turn for turn in pack}
        trees = {stack_id: root for stack_id, root in root_of.items() if root in turn_of}
        rows = observable.rows(self._database, trees)
        roots = {stack_id: turn_of[root].stack for stack_id, root in trees.items()}
        seen = self._observe(roots, rows)
        blind = {trees[row.stack_id] for row in rows if row.id in seen.unseen}
        blind |= {trees[each] for each in observable.unwell(self._database, trees)}
        blind |= {root for root, turn in turn_of.items() if turn.stack.status is Status.IN_PROGRESS}
        drifted = {trees[finding.row.stack_id] for finding in seen.findings if finding.kind is not None}
        ended = [
            Looked(turn=turn, again_in=self._pause(turn.stack), status=status_of(root, drifted, blind))
            for root, turn in turn_of.items()
        ]
        schedule.end(self._database, ended)
        for root, turn in turn_of.items():
            self._heal(turn.stack, [each for each in trees if trees[each] == root], seen)

    def _look_on(self, turn: DueStack, tree: Sequence[str], size: int) -> None:
        """Look at the next portion of a large stack."""
        root, portion = turn.stack, self._defaults.portion
        rows = observable.rows(self._database, tree, after=turn.cursor, limit=portion)
        seen = self._observe(dict.fromkeys(tree, root), rows)
        blind = turn.blind or bool(seen.unseen)
        pause = self._pause(root) * min(1.0, portion / max(size, 1))
        if len(rows) == portion:
            found = DriftStatus.DRIFTED if any(each.kind for each in seen.findings) else None
            looked = Looked(turn=turn, again_in=pause, cursor=rows[-1].id, blind=blind, status=found)
        else:
            drifted = {root.id} if observable.drifted(self._database, tree) else set()
            unclear = {root.id} if blind or observable.unwell(self._database, tree) else set()
            looked = Looked(turn=turn, again_in=pause, status=status_of(root.id, drifted, unclear))
        schedule.end(self._database, [looked])
        self._heal(root, tree, seen)

    def _pause(self, root: Stack) -> float:
        interval = self._defaults.interval_of(root)
        if root.status is Status.IN_PROGRESS:
            interval = min(interval, BUSY)
        return interval * random.uniform(0.9, 1.1)

    # -- looking -----------------------------------------------------------------------------------

    def _observe(
        self, roots: Mapping[str, Stack], rows: Sequence[ResourceRow], *, insist: bool = False
    ) -> Seen:
        """Look at rows, by default at those whose policy (their stack's, their metadata) is not off.

        ``roots`` are the root stacks by the ids of the stacks that the rows are in.
        """
        if not insist:
            rows = [
                row
                for row in rows
                if mode_of(row, self._defaults.mode_of(roots[row.stack_id])) is not Mode.OFF
            ]
        inside = {row.stack_id for row in rows} - {root.id for root in roots.values()}
        own = stacks.get_many(self._database, inside) if inside else {}
        ids = {roots[row.stack_id].id for row in rows}
        return self._observing.observe({**roots, **own}, ids, rows, insist=insist)

    def _is_busy(self, root_id: str) -> bool:
        root = stacks.get(self._database, root_id)
        return root is not None and root.status is Status.IN_PROGRESS

    def _heal(self, root: Stack, tree: Sequence[str], seen: Seen) -> bool:
        """Heal what was seen if that is wanted; tell whether all is done that was to be done now."""
        mode = self._defaults.mode_of(root)
        inside = set(tree)
        if any(each.kind and each.row.stack_id in inside - {root.id} for each in seen.findings):
            observations.mark_owners(self._database, tree)
        due = any(
            finding.kind is not None
            and finding.row.stack_id in inside
            and mode_of(finding.row, mode) is Mode.HEAL
            for finding in seen.findings
        )
        if due or (mode is Mode.HEAL and root.status is Status.FAILED):
            return self._healing.heal(root.id, tree, mode)
        return True


def status_of(root_id: str, drifted: Collection[str], blind: Collection[str]) -> DriftStatus:
    """Return how a stack is of which something drifted, or could not be looked at."""
    if root_id in drifted:
        return DriftStatus.DRIFTED
    return DriftStatus.UNKNOWN if root_id in blind else DriftStatus.IN_SYNC


def _packs(roots: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the stacks by as many as have together what one call can tell of."""
    pack: list[str] = []
    number = 0
    for root in roots:
        if pack and number + sizes[root] > MANY:
            yield pack
            pack, number = [], 0
        pack.append(root)
        number += sizes[root]
    if pack:
        yield pack
