# SPDX-License-Identifier: Apache-2.0
"""A stack lives, a dump is taken in the middle of that, and is restored when the world has gone on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from heatconv.db import restoring
from heatconv.db.tables import service, stack
from heatconv.engine import orphans
from heatconv.model.states import Action
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.templates import Template, attr, thing
from heatconv.testing.trees import GIVEN, INDEX, group, nested
from tests.chaos import oracle
from tests.chaos.bench import Bench, Rows, let_the_cloud_finish
from tests.chaos.mortal import Fate
from tests.chaos.stage import LONG_AGO, Stage
from tests.chaos.stories import DELETE, NAME, Request, create, update

FIRST = Template(
    A=thing("a"),
    B=thing("b", uses=["A"]),
    C=thing(attr("B")),
    N=nested(Template(P=thing(GIVEN), Q=thing(attr("P"))), "n"),
    G=group(2, thing("m" + INDEX)),
)
SECOND = FIRST.without("C").but(
    A=thing("a", flavor="large"), D=thing("d", uses=["A"]), G=group(3, thing("m" + INDEX))
)
THIRD = SECOND.but(B=thing("b2", uses=["A"]), N=nested(Template(P=thing(GIVEN)), "n2", file="other.yaml"))

#: What is asked for in a life, one after the other.
LIVES: Mapping[str, Sequence[Request]] = {
    "grows": [create(FIRST), update(SECOND), update(THIRD)],
    "shrinks": [create(THIRD), update(FIRST), update(Template(A=thing("a")))],
    "goes": [create(FIRST), update(SECOND), DELETE],
}

_LATER = 900  #: thousands of ids that a life takes at most
_OTHERS = 100  #: the first number of the daemons that begin after the restore


@dataclass(frozen=True, kw_only=True)
class Moment:
    """The boundary of an engine's or a worker's at which the dump is taken; None: there is none."""

    engine: int | None = None
    worker: int | None = None


class Life:
    """One life of a stack, up to its end."""

    def __init__(self, bench: Bench, requests: Sequence[Request], moment: Moment) -> None:
        self._bench = bench
        self._wanted: dict[int, Template | None] = {}  #: by the id of the template's row
        self.dump: Rows | None = None
        stage = bench.set_up(None)
        self.engine, self.worker = stage.add_engine(), stage.add_worker()
        self.engine.fate = Fate(moment.engine, self._take_dump)
        self.worker.fate = Fate(moment.worker, self._take_dump)
        for request in requests:
            stage.ask(request.method, *request.arguments)
            if request is not DELETE:
                self._note(request)
            stage.run()
        let_the_cloud_finish()

    def _take_dump(self) -> None:
        self.dump = self._bench.dump()

    def _note(self, request: Request) -> None:
        own = sa.select(stack.c.raw_template_id).where(stack.c.name == NAME)
        with self._bench.as_nobody() as connection:
            self._wanted[connection.execute(own).scalar_one()] = request.leads_to or _created(request)

    @property
    def wanted(self) -> Template | None:
        """What was wanted when the dump was taken."""
        assert self.dump is not None
        found = [
            row
            for row in self.dump["stack"]
            if row["name"] == NAME and row["deleted_at"] is None and row["action"] != Action.DELETE
        ]
        return self._wanted[found[0]["raw_template_id"]] if found else None


def _created(request: Request) -> Template | None:
    return next((made for made in (FIRST, SECOND, THIRD) if create(made) == request), None)


def boundaries(bench: Bench, requests: Sequence[Request]) -> tuple[int, int]:
    """Return how many boundaries the engine and the worker of a life pass."""
    life = Life(bench, requests, Moment())
    return len(life.engine.fate.passed), len(life.worker.fate.passed)


def restore(bench: Bench, life: Life) -> Stage:
    """Restore the dump, hours later, and let new daemons run until nothing is left to do."""
    assert life.dump is not None
    bench.restore(life.dump)
    with bench.as_nobody() as connection:
        connection.execute(sa.update(service).values(updated_at=LONG_AGO))
    with bench.boundaries.of_nobody():
        for _ in restoring.mark(bench.database):
            pass
    stage = bench.stage_of_others(ids=_LATER, daemons=_OTHERS)
    for _ in range(2):
        stage.add_engine()
        stage.add_worker()
    stage.run()
    let_the_cloud_finish()
    return stage


def judge(bench: Bench, wanted: Template | None) -> tuple[list[str], int]:
    """Return what is wrong once a dump was restored, and how many orphans are named.

    Without these there is what was wanted when the dump was taken, and nothing else.
    """
    with bench.as_nobody() as connection:
        problems = [*oracle.in_the_database(connection)]
        named = {orphan.physical_id for orphan in orphans.find(bench.database, bench.registry, "stage")}
    kept = [each for each in IN_PROCESS.owned() if each["id"] not in named]
    problems += oracle.in_the_cloud({} if wanted is None else {NAME: wanted}, kept)
    problems += oracle.twins(IN_PROCESS.audit())
    return problems, len(named)
