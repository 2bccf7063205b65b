# SPDX-License-Identifier: Apache-2.0
"""Plays a story over and over on one database, each time with another death, and judges how it ended."""

from __future__ import annotations

import contextlib
import copy
import fnmatch
import itertools
import logging
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import Database
from heatconv.db.tables import event, metadata, resource, stack
from heatconv.errors import StackExists
from heatconv.model.drift import Mode
from heatconv.model.states import Action
from heatconv.resources.registry import Registry
from heatconv.testing import trees
from heatconv.testing.cloud import IN_PROCESS, IN_TRANSITION, CloudObject
from heatconv.testing.failures import Refused
from heatconv.testing.keys import KEYRING
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import Template
from tests.chaos import oracle, unknown
from tests.chaos.mortal import Boundaries, repeatable_ids
from tests.chaos.stage import Stage
from tests.chaos.stories import NAME, Request, Story, create
from tests.functional.on_disk import on_disk

_IN_USE = 1000  #: ids that the states to start from may have taken


@dataclass(frozen=True, kw_only=True)
class Death:
    """Who dies, or stops for a while, and at which of its boundaries; None: nobody does."""

    worker: int | None = None
    engine: int | None = None
    stops: bool = False
    retry: bool = True  #: whether a client who gets no answer asks again


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a run went."""

    worker: Sequence[str]  #: the boundaries that the first worker passed
    engine: Sequence[str]  #: those of the first engine
    begun: bool  #: whether the request was accepted, answered or not
    problems: Sequence[str]
    made: Counter[str]  #: what was made and removed in the cloud
    history: Sequence[str]
    orphans: Sequence[str]  #: the names of what could not but be left behind, and of which an event tells


Rows = dict[str, list[dict[str, Any]]]  #: by table


@dataclass
class _State:
    """The world at some moment: the rows of each table, and the objects of the cloud."""

    rows: Rows = field(default_factory=dict)
    objects: dict[str, CloudObject] = field(default_factory=dict)


class Bench:
    """A database to play on.

    The cloud is that of the address ``memory:``, so there is one bench at a time.
    """

    def __init__(self, url: str, plugin_dirs: Sequence[str] = ()) -> None:
        os.environ["HEATCONV_FAKE_CLOUD"] = "memory:"
        self.boundaries = Boundaries()
        self.database = self.boundaries.of_database(Database.from_url(url, KEYRING))
        # All processes have it in common here: one that stops must not stop the others.
        self.database.groups_abreast = sys.maxsize
        self.registry = self.boundaries.of_types(Registry.load([PLUGIN_DIR, *plugin_dirs]))
        self._states: dict[tuple[int, Mode, tuple[int, ...]], _State] = {}
        self._exit = ExitStack()
        # SQLite tidies up whenever the last connection goes; this one stays.
        self._exit.enter_context(self.database.engine.connect())
        self._number_ids = self._exit.enter_context(repeatable_ids())
        logging.disable(logging.CRITICAL)

    def close(self) -> None:
        logging.disable(logging.NOTSET)
        self._exit.close()
        IN_PROCESS.reset()
        self.database.close()

    def play(self, story: Story, death: Death = Death()) -> Run:
        """Play a story in which somebody dies."""
        stage = self.set_up(
            story.before,
            lambda done: _then(stage, story, done),
            policy=story.policy,
            prepare=story.prepare,
        )
        for fault in story.faults:
            IN_PROCESS.fail(fault())
        for owner, drift in story.drifts.items():
            drift(IN_PROCESS, _object_of(owner))
        engine = stage.add_engine(death.engine)
        stage.add_engine()
        worker = stage.add_worker(death.worker, pauses=death.stops)
        stage.add_worker()
        problems = []
        before = self._mark()
        refusal = _ask(stage, story.ask, retry=death.retry)
        if refusal is not None and not isinstance(refusal, StackExists):
            problems.append(f"the request was refused: {refusal!r}")
        # What drifted is looked at time and again, whoever died over it.
        begun = bool(story.drifts) or self._mark() != before
        try:
            stage.run()
        except AssertionError as error:
            problems.append(str(error))
        let_the_cloud_finish()
        orphans = self._take_orphans(worker.fate.passed)
        left = (
            []
            if story.before is None
            else _left_of(story.retained, self._state(story.before, story.policy, story.prepare))
        )
        wanted = story.wanted if begun else story.at_first
        problems += [f"{each} is gone" for each in left if each not in IN_PROCESS._objects]
        problems += self.problems(wanted, may_fail=story.may_fail, left=left)
        problems += story.also(IN_PROCESS.owned()) if begun else ()
        if not death.stops:
            # One that was stopped between its last look and its request makes a twin whatever we do;
            # it has to remove it.
            problems += oracle.twins(IN_PROCESS.audit(), excused=orphans)
        return Run(
            worker=worker.fate.passed,
            engine=engine.fate.passed,
            begun=begun,
            problems=problems,
            made=oracle.turnover(IN_PROCESS.audit()),
            history=stage.history,
            orphans=orphans,
        )

    def _take_orphans(self, passed: Sequence[str]) -> list[str]:
        """Remove what could not but be left behind, as whoever reads the event does; return the names."""
        if not unknown.could_leave(passed):
            return []
        with self.boundaries.of_nobody(), self.database.engine.connect() as connection:
            found = list(unknown.orphans(connection, IN_PROCESS.owned()))
        for orphan in found:
            IN_PROCESS.vanish(orphan["id"])
        return [orphan["name"] for orphan in found]

    def set_up(
        self,
        template: Template | None,
        watch: Callable[[int], None] = lambda _done: None,
        *,
        policy: Mode = Mode.OFF,
        prepare: tuple[Request, ...] = (),
    ) -> Stage:
        """Return an empty stage in the world in which a stack of a template is complete.

        ``watch`` is told how many requests the cloud has carried out, after each.
        """
        state = self._state(template, policy, prepare)
        self._go_to(state)
        self._number_ids(_IN_USE * (1 + len(prepare)) if template else 0)
        IN_PROCESS.reset(self.boundaries.gate(watch))
        IN_PROCESS._objects.update(copy.deepcopy(state.objects))
        return Stage(self.database, self.registry, self.boundaries, is_observed=policy is not Mode.OFF)

    def begin(self, request: Request) -> None:
        """Ask for something in an empty world in which there is no worker."""
        self._go_to(_State())
        stage = Stage(self.database, self.registry, self.boundaries)
        stage.add_engine()
        _ask(stage, request)

    def problems(
        self, template: Template | None, *, may_fail: bool = False, left: Sequence[str] = ()
    ) -> list[str]:
        """Return what is wrong with a world in which a stack of a template is to be complete.

        ``may_fail``: something was made to fail on the way there.  ``left``: objects that
        do not count where another has taken their place, or none is wanted.
        """
        wanted = {} if template is None else {NAME: template}
        with self.boundaries.of_nobody(), self.database.engine.connect() as connection:
            problems = [*oracle.in_the_database(connection)]
            failed = sa.select(event).where(oracle.FAILED, event.c.action != Action.OBSERVE)
            if not may_fail:
                problems += [
                    f"{row.resource_name}: {row.status_reason}" for row in connection.execute(failed)
                ]
            there = connection.scalar(
                sa.select(sa.func.count()).select_from(stack).where(stack.c.deleted_at.is_(None))
            )
        stacks = sum(1 + trees.stacks(each) for each in wanted.values())
        if there != stacks:
            problems.append(f"there are {there} stacks, wanted {stacks}")
        owned = IN_PROCESS.owned()
        owners = Counter(found["owner"] for found in owned)
        counted = [
            found
            for found in owned
            if found["id"] not in left or (template is not None and owners[found["owner"]] == 1)
        ]
        return [*problems, *oracle.in_the_cloud(wanted, counted)]

    def _mark(self) -> tuple[object, object]:
        """Return what differs once a request was accepted: the stack's traversal, or what a signal writes."""
        own = stack.c.owner_resource_id.is_(None)
        written = sa.select(sa.func.sum(resource.c.metadata_key)).join(
            stack, stack.c.id == resource.c.stack_id
        )
        with self.boundaries.of_nobody(), self.database.engine.connect() as connection:
            traversal = connection.scalar(sa.select(stack.c.current_traversal).where(own))
            return traversal, connection.scalar(written.where(own))

    # -- states to start from --------------------------------------------------------------------

    def _state(self, template: Template | None, policy: Mode, prepare: tuple[Request, ...]) -> _State:
        """Return the world in which a stack of a template is complete, and some more has been done to it."""
        key = id(template), policy, tuple(map(id, prepare))
        if key not in self._states:
            self._states[key] = _State() if template is None else self._make(template, policy, prepare)
        return self._states[key]

    def _make(self, template: Template, policy: Mode, prepare: tuple[Request, ...]) -> _State:
        story = Story(before=None, ask=create(template, policy=policy), wanted=template)
        if prepare:
            *before, ask = prepare
            prepared = Story(before=template, prepare=prepare, ask=ask, wanted=template)
            story = replace(prepared, prepare=tuple(before), wanted=prepared.at_first)
        run = self.play(story)
        if run.problems:
            raise AssertionError(run.problems)
        rows = self.dump()
        del rows["service"]
        return _State(rows, copy.deepcopy(IN_PROCESS._objects))

    def dump(self) -> Rows:
        """Return the rows of each table, as they are on the disk, whoever is in the middle of something."""
        with self.boundaries.of_nobody(), self.database.engine.connect() as connection:
            return {
                table.name: [dict(row) for row in connection.execute(sa.select(on_disk(table))).mappings()]
                for table in metadata.sorted_tables
            }

    @contextlib.contextmanager
    def as_nobody(self) -> Iterator[Connection]:
        """Give a transaction that is no process's; nobody dies in it."""
        with self.boundaries.of_nobody(), self.database.engine.begin() as connection:
            yield connection

    def stage_of_others(self, *, ids: int, daemons: int) -> Stage:
        """Return an empty stage in the world as it is, of which stacks are looked at.

        ``ids`` thousands of ids are taken, and so are the numbers of daemons below ``daemons``.
        """
        self._number_ids(ids * _IN_USE)
        return Stage(self.database, self.registry, self.boundaries, is_observed=True, first=daemons)

    def restore(self, rows: Rows) -> None:
        """Let the database have just these rows; the cloud stays as it is."""
        self._go_to(_State(rows))

    def _go_to(self, state: _State) -> None:
        with self.boundaries.of_nobody(), self.database.engine.begin() as connection:
            for table in metadata.sorted_tables:
                connection.execute(sa.delete(table))
                if rows := state.rows.get(table.name):
                    connection.execute(sa.insert(on_disk(table)), rows)


def _left_of(owners: Sequence[str], state: _State) -> list[str]:
    """Return the ids of what some owners had in a state to start from."""
    return [found.id for found in state.objects.values() if found.owner in owners]


def _object_of(owner: str) -> str:
    """Return the id of the one object whose owner matches a pattern."""
    (found,) = [found["id"] for found in IN_PROCESS.owned() if fnmatch.fnmatchcase(found["owner"], owner)]
    return str(found)


def let_the_cloud_finish() -> None:
    """Look at what is on its way until it is there, or gone: without a clock, looking is what takes time."""
    while going := [
        found.id
        for found in IN_PROCESS._objects.values()
        if found.status in IN_TRANSITION and found.due < math.inf
    ]:
        for object_id in going:
            with contextlib.suppress(Refused):
                IN_PROCESS.show(object_id)


def _ask(stage: Stage, request: Request, *, retry: bool = True) -> Exception | None:
    return stage.ask(request.method, *request.arguments, retry=retry)


def _then(stage: Stage, story: Story, done: int) -> None:
    if story.then is not None and done == story.after:
        request = story.then
        stage.send(lambda: _ask(stage, request))


def judge(run: Run, undisturbed: Run, story: Story, death: Death) -> list[str]:
    """Return what is wrong with a run, given one in which nobody died."""
    problems = list(run.problems)
    if story.exact and run.begun and not death.stops and run.made != undisturbed.made:
        more, less = run.made - undisturbed.made, undisturbed.made - run.made
        problems.append(f"done once more than needed: {dict(more)}, once less: {dict(less)}")
    return problems


# -- every death there can be ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Deaths:
    """Those of a kind that a story leaves room for."""

    boundaries: int  #: at which the process could die
    each: Sequence[Death]  #: those that differ for anybody but the process itself


def _deaths(passed: Sequence[str], at: Callable[[int], Death]) -> Deaths:
    return Deaths(boundaries=len(passed), each=[at(last) for last in telling(passed)])


def telling(passed: Sequence[str]) -> list[int]:
    """Return which boundaries to stop at, of those passed, counted from one.

    Between an "after" and the "before" that comes next a process does nothing
    that anybody else could tell: to die at either is the same death.
    """
    pairs = enumerate(itertools.pairwise(["before anything", *passed]), start=1)
    return [last for last, (one, other) in pairs if (_when(one), _when(other)) != ("after", "before")]


def _when(boundary: str) -> str:
    return boundary.partition(" ")[0]


def _workers(bench: Bench, story: Story) -> Deaths:
    return _deaths(bench.play(story).worker, lambda last: Death(worker=last))


def _engines(bench: Bench, story: Story) -> Deaths:
    return _deaths(bench.play(story).engine, lambda last: Death(engine=last))


def _unanswered(bench: Bench, story: Story) -> Deaths:
    return _deaths(bench.play(story).engine, lambda last: Death(engine=last, retry=False))


def _engines_after_a_worker(bench: Bench, story: Story) -> Deaths:
    """Kill a worker at its second request to the cloud, then an engine: recovery is one of its tasks."""
    passed = enumerate(bench.play(story).worker, start=1)
    _, _, second, *_ = (last for last, boundary in passed if _REQUEST in boundary)
    engine = bench.play(story, Death(worker=second)).engine
    return _deaths(engine, lambda last: Death(worker=second, engine=last))


def _stops(bench: Bench, story: Story) -> Deaths:
    """Stop everywhere but where an update is about to be sent and a second wish may come meanwhile.

    That update arrives when the worker goes on, and undoes what the second wish did; only looking
    at the world would find it.  Likewise a deletion of what the second wish wants retained.
    """
    passed = bench.play(story, Death(stops=True)).worker
    deaths = _deaths(passed, lambda last: Death(worker=last, stops=True))
    harmless = [
        death
        for death in deaths.each
        if story.exact or not _is_about_to_send(passed[(death.worker or 0) - 1 :], bool(story.retained))
    ]
    return Deaths(boundaries=deaths.boundaries, each=harmless)


_REQUEST = "a request to the cloud"


def _is_about_to_send(ahead: Sequence[str], deletions: bool) -> bool:
    """Tell whether an update, or one of the ``deletions``, is sent before the database is asked again."""
    asks = (index for index, boundary in enumerate(ahead) if _is_asking(boundary))
    until = ahead[: next(asks, len(ahead))]
    sent_by = {boundary for boundary in until if boundary.startswith("after handle_")}
    # A hook that was refused raises, and is not passed.
    is_sent = "after handle_update" in sent_by or (deletions and sent_by <= {"after handle_delete"})
    sends = f"before {_REQUEST}" in until and is_sent
    return sends or "before check_update_complete" in until


def _is_asking(boundary: str) -> bool:
    when, statement, *_ = boundary.split()
    return when == "before" and statement.isupper()


#: Every death of a kind that a story leaves room for.
DEATHS: Mapping[str, Callable[[Bench, Story], Deaths]] = {
    "a worker dies": _workers,
    "an engine dies": _engines,
    "an engine dies, nobody asks again": _unanswered,
    "a worker dies, then an engine": _engines_after_a_worker,
    "a worker stops and goes on": _stops,
}
