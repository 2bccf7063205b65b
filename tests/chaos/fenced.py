# SPDX-License-Identifier: Apache-2.0
"""Plans that are applied after somebody else has changed the stack, beside what they touch or just that.

Of a stack two users have a half each, and neither refers to the other's. One makes a plan of her half;
the other changes his, or hers. In half of the tries his update goes on while hers begins, and an
engine or a worker is killed.
"""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bcrypt

from heatconv.client.http import ClientError
from heatconv.testing.parameters import as_given
from heatconv.testing.templates import Attribute, Param, Template, Thing, thing
from heatconv.testing.trees import INDEX, Group, Nested, differences, place_of, source
from tests.chaos.halves import apart, both, let_go
from tests.chaos.planned import Planned, Service
from tests.functional.plans.carried import Carried
from tests.functional.plans.edits import Edits, fresh
from tests.functional.plans.judging import broken_words
from tests.functional.plans.keeping import listed

Json = dict[str, Any]

ALICE, BOB = "alice@default", "bob@default"
HERS, HIS = "hers", "his"  #: how the names of each half begin
TRIES = 10  #: with one stack
SOON = 0.6  #: seconds in which a daemon is killed


class Fence:
    """How a run goes: what was applied and refused, and what of that was wrong."""

    def __init__(self, service: Service, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self.misses: list[str] = []
        self._service, self._seed = service, seed

    @staticmethod
    def options(directory: Path) -> Json:
        """Return how the daemons are to run: with two users, who have to say who they are."""
        users = directory / "users"
        lines = [
            f"{name}:{bcrypt.hashpw(name.encode(), bcrypt.gensalt(4)).decode()}" for name in (ALICE, BOB)
        ]
        users.write_text("\n".join(lines))
        return {"options": {"auth": {"strategy": "http_basic", "http_basic_user_file": users}}}

    def run(self, tries: int) -> Iterator[str]:
        """Try so many times, with a touching change each second time; yield a line on each stack."""
        for number, first in enumerate(range(0, tries, TRIES)):
            planned = Planned(self._service, f"f{number:03}", (ALICE, BOB))
            choice = random.Random(f"{self._seed} {number}")
            try:
                self._try_some(planned, choice, min(TRIES, tries - first))
            finally:
                planned.close()
            yield f"{planned.name}: {self.summary()}"

    def summary(self) -> str:
        """Return the figures so far."""
        return f"{listed(self.done)}; {len(self.misses)} wrong"

    def _try_some(self, planned: Planned, choice: random.Random, tries: int) -> None:
        hers, his = (apart(let_go(fresh(choice)), prefix) for prefix in (HERS, HIS))
        edits = Edits(choice)
        planned.create(both(hers, his))
        planned.rest()
        for number in range(tries):
            attempt = Attempt(self._service, planned, choice, edits, rough=number % 4 > 1)
            there = (attempt.touching if number % 2 else attempt.beside)(hers, his)
            self.done.update(attempt.done)
            if attempt.misses:
                self.misses += [f"{planned.name}, try {number}: {miss}" for miss in attempt.misses]
                break  # the next try would be of a world that nobody knows
            hers, his = there
        planned.delete()


class Attempt:
    """One plan, one change by somebody else, and what came of both."""

    def __init__(
        self, service: Service, planned: Planned, choice: random.Random, edits: Edits, *, rough: bool
    ) -> None:
        """``rough``: the change goes on still when the plan is applied, and a daemon is killed."""
        self.done: list[str] = []
        self.misses: list[str] = []
        self._service, self._planned, self._rough = service, planned, rough
        self._choice, self._edits = choice, edits

    def beside(self, hers: Template, his: Template) -> tuple[Template, Template]:
        """Apply a plan after a change that it does not touch; return both halves as they are then."""
        other = self._edited(his, HIS)
        # What stacks inherit reaches all of them: while that goes on, the change is not beside them.
        while self._rough and source(other)["files"] != source(his)["files"]:
            other = self._edited(his, HIS)
        there = self._hers()
        after, plan = self._planned_edit(hers, his)
        refusal = self._change_and_apply(plan, both(hers, other))
        if refusal is not None:
            self._wrong(f"refused beside what it touches: {refusal}", plan, hers, after, his, other)
            return hers, other
        carried = Carried(
            plan=plan,
            before=hers,
            after=after,
            was=there,
            there=there,
            audit=[entry for entry in self._planned.asked() if _is_of(HERS, entry.owner)],
            now=self._hers(),
        )
        for miss in [*broken_words(carried), *self._differences(both(after, other))]:
            self._wrong(miss, plan, hers, after, his, other)
        self.done.append(f"gone through{self._how}")
        return after, other

    def touching(self, hers: Template, his: Template) -> tuple[Template, Template]:
        """Apply a plan after a change of what it touches; return both halves as they are then."""
        after, plan = self._planned_edit(hers, his)
        while not plan["resources"]:
            after, plan = self._planned_edit(hers, his)
        names, other = touched(hers, after, plan, self._choice)
        refusal = self._change_and_apply(plan, both(other, his))
        if refusal is None:
            self._wrong(f"went through, and {names} had changed", plan, hers, after, other)
            return after, his
        self._judge(refusal, names, plan, hers, after, other)
        for miss in self._differences(both(other, his)):
            self._wrong(miss, plan, hers, after, other)
        self.done.append(f"refused{self._how}")
        return other, his

    @property
    def _how(self) -> str:
        return " with an update under way and a daemon killed" if self._rough else ""

    def _judge(self, refusal: ClientError, names: Sequence[str], plan: Json, *story: Template) -> None:
        """Hold the sentence of a refusal against what has happened: what changed, by whom, when."""
        said, until = str(refusal), self._planned.shown()["updated_time"]
        if (refusal.status, refusal.kind) != (409, "PlanStale"):
            self._wrong(f"refused as {refusal.status} {refusal.kind}: {said}", plan, *story)
        if not any(name in said for name in names):
            self._wrong(f"none of {names} is named: {said}", plan, *story)
        if f"by {BOB} at " not in said:
            self._wrong(f"it is not said that {BOB} did it: {said}", plan, *story)
        times = re.findall(r"\d{4}-\d\d-\d\dT[\d:]+Z", said)
        if not times or not plan["created_at"] <= times[-1] <= until:
            self._wrong(f"it was from {plan['created_at']} to {until}: {said}", plan, *story)

    def _change_and_apply(self, plan: Json, other: Template) -> ClientError | None:
        """Let somebody else change the stack, then apply the plan; return the refusal, if it is one."""
        self._planned.asked()
        killing = threading.Thread(target=self._kill) if self._rough else None
        if killing is not None:
            killing.start()
        self._planned.update(other, user=1)
        if killing is None:
            self._planned.rest()
        refusal = self._planned.apply(plan)
        if killing is not None:
            killing.join()
        ended = self._planned.rest()
        if not ended.startswith("UPDATE_COMPLETE"):
            self.misses.append(f"it ended as {ended}; {plan['resources']}")
        return refusal

    def _kill(self) -> None:
        daemons = self._service.daemons
        assert daemons is not None
        name = self._choice.choice(sorted([*daemons.names("engine"), *daemons.names("worker")]))
        threading.Event().wait(self._choice.uniform(0, SOON))
        daemons.kill(name)
        daemons.start(name)
        daemons.await_up(name)

    def _edited(self, half: Template, prefix: str) -> Template:
        """Return a half with edits; what is added is called as its half is."""
        plain = apart(half, prefix, back=True)
        return apart(let_go(self._edits.edited(plain)), prefix)

    def _planned_edit(self, hers: Template, his: Template) -> tuple[Template, Json]:
        """Return her half with edits, and the plan of them, which touches nothing of his."""
        while True:
            after = self._edited(hers, HERS)
            plan = self._planned.plan(both(after, his))
            # A file of hers reaches his groups of stacks as well: what stacks inherit is one for all.
            if all(each["path"][0].startswith(HERS) for each in plan["resources"]):
                return after, plan
            self._planned.forget(plan)

    def _hers(self) -> list[Json]:
        return [found for found in self._planned.owned() if _is_of(HERS, found["owner"])]

    def _differences(self, wanted: Template) -> list[str]:
        return differences(as_given(wanted), self._planned.owned())

    def _wrong(self, what: str, plan: Json, *templates: Template) -> None:
        story = " -> ".join(str(source(template)) for template in templates)
        self.misses.append(f"{what}; {story}; {plan['resources']}")


def _is_of(prefix: str, owner: str) -> bool:
    return place_of(owner)[1][0].startswith(prefix)


def touched(
    before: Template, after: Template, plan: Json, choice: random.Random
) -> tuple[list[str], Template]:
    """Change something that a plan touches, or whose value it goes by; return its names, and the half."""
    fresh_value = f"touched{choice.randrange(10**6)}"
    name = choice.choice(sorted({each["path"][0] for each in plan["resources"]}))
    entry = after.get(name)
    reads = entry.value if isinstance(entry, Thing | Nested) else None
    if isinstance(reads, Param) and choice.random() < 0.5:
        given = replace(after.parameters[reads.name], value=fresh_value)
        # Of what takes it, any may be named.
        return [reads.name, *after], before.given({reads.name: given})
    # Who reads an id does not go by the value.
    if isinstance(reads, Attribute) and reads.name == "value" and choice.random() < 0.5:
        read = before.get(reads.resource)
        if isinstance(read, Thing):
            # Of what reads the value, any may be named.
            return sorted(after), before.but(**{reads.resource: replace(read, value=fresh_value)})
    match before.get(name):
        case Thing() | Nested() as there:
            changed: Any = replace(there, value=fresh_value)
        case Group() as there:
            numbered = INDEX in str(there.member.value)
            member = replace(there.member, value=fresh_value + (INDEX if numbered else ""))
            changed = replace(there, member=member)
        case _:
            changed = thing(fresh_value)
    names = [name, *(each.file for each in (before.get(name), after.get(name)) if isinstance(each, Nested))]
    return names, before.but(**{name: changed})
