# SPDX-License-Identifier: Apache-2.0
"""One stack that is edited again and again by plans, and what of these did not hold."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from heatconv.testing.cloud import AuditEntry
from heatconv.testing.templates import Template
from heatconv.testing.trees import source
from tests.functional.plans.carried import Carried
from tests.functional.plans.edits import Edits, fresh
from tests.functional.plans.judging import broken_words

Json = dict[str, Any]

DRIFTING = 0.5  #: how often something drifts before an edit is planned
PATCHING = 0.3  #: how often only what changes is posted


class Altered(Protocol):
    """A cloud in which things happen that nobody asked it for."""

    def vanish(self, object_id: str) -> None:
        """Remove an object."""

    def spoil(self, object_id: str) -> None:
        """Let an object be in ERROR."""

    def meddle(self, object_id: str, properties: Json) -> None:
        """Change an object."""


class Changed(Protocol):
    """A stack, and what users do to it."""

    @property
    def cloud(self) -> Altered:
        """The cloud that it is in."""

    def owned(self) -> list[Json]:
        """Return the objects of it and of the stacks inside."""

    def observe(self) -> None:
        """Have it looked at as it really is."""

    def plan_of(self, posted: Json, *, existing: bool = False) -> Json:
        """Return the plan of an update; with ``existing`` of what is posted alone."""

    def carry_out(self, plan: Json) -> tuple[str, Sequence[AuditEntry]]:
        """Apply a plan; return how that ended, and what the cloud was asked for it."""


class Keeping:
    """How it goes with one stack; ``misses`` are what was said and did not hold."""

    def __init__(self, choice: random.Random) -> None:
        self.template = fresh(choice)  #: of which it is to be made at first
        self.said: Counter[str] = Counter()  #: statements, by how certain they were and what they said
        self.done: Counter[str] = Counter()  #: edits and what was done beside them, by kind
        self.misses: list[str] = []
        self._choice = choice
        self._edits = Edits(choice)

    def edit(self, stack: Changed) -> bool:
        """Let something drift perhaps, edit the stack by a plan, and judge that; tell whether all held."""
        after = self._edits.edited(self.template)
        was = stack.owned()
        if self._choice.random() < DRIFTING:
            self.done[f"drift: {drift(stack.cloud, was, self._choice)}"] += 1
            stack.observe()
        there = stack.owned()
        plan = self._planned(stack, after)
        ended, audit = stack.carry_out(plan)
        carried = Carried(
            plan=plan,
            before=self.template,
            after=after,
            was=was,
            there=there,
            audit=audit,
            now=stack.owned(),
        )
        misses = [] if ended.startswith("UPDATE_COMPLETE") else [f"it ended as {ended}"]
        misses += broken_words(carried)
        story = f"{source(self.template)} -> {source(after)}, {plan['resources']}, {[*audit]}"
        self.misses += [f"{miss}; {story}" for miss in misses]
        for each in carried.left:
            stack.cloud.vanish(each)
        self.said.update(f"{each['certainty']} {each['action']}" for each in plan["resources"])
        self.template = after
        return not misses

    @property
    def counts(self) -> Counter[str]:
        """How many edits there were, and what was done beside them, by kind."""
        return self._edits.made + self.done

    def _planned(self, stack: Changed, after: Template) -> Json:
        posted = source(after)
        if self._choice.random() >= PATCHING:
            return stack.plan_of(posted)
        before = source(self.template)
        given, known = (each["environment"]["parameters"] for each in (posted, before))
        others = {name: value for name, value in given.items() if known.get(name) != value}
        sent = {key: posted[key] for key in ("template", "files") if posted[key] != before[key]}
        self.done["patch" if sent else "patch of parameters"] += 1
        return stack.plan_of({**sent, "environment": {"parameters": others}}, existing=True)


def summary(said: Counter[str], misses: Sequence[str]) -> str:
    """Return the figures."""
    counts = Counter[str]()
    for what, count in said.items():
        counts[what.partition(" ")[0]] += count
    certain, possible = counts["certain"], counts["possible"]
    share = 100 * certain / ((certain + possible) or 1)
    figures = f"{certain} certain, {possible} possible ({share:.1f} % certain), {len(misses)} misses"
    return f"{figures}; {listed(said)}"


def listed(counts: Counter[str]) -> str:
    """Return how often there was what."""
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


def drift(cloud: Altered, there: Sequence[Json], choice: random.Random) -> str:
    """Do something to one of the objects that are there, if there is any; return what."""
    objects = sorted(there, key=lambda found: found["owner"])
    if not objects:
        return "nothing"
    found = choice.choice(objects)
    used = {each for other in objects for each in other["properties"].get("uses") or ()}
    match choice.choice(["value", "flavor", "error", "gone"]):
        case "gone" if found["id"] not in used:
            cloud.vanish(found["id"])
            return "gone"
        case "gone" | "error":
            cloud.spoil(found["id"])
            return "error"
        case name:
            cloud.meddle(found["id"], {name: "altered"})
            return name
