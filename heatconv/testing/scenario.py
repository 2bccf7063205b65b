# SPDX-License-Identifier: Apache-2.0
"""Scenarios as prose: a world that stacks are asked of, interrupted in and verified in.

A scenario is a function ``scenario(world)`` in a module of its own::

    def scenario(world):
        world.create("web", Template(A=thing("a"), B=thing(uses=["A"])))
        world.after(1)
        world.delete("web")
        world.settle()
        world.verify_gone("web")

The same text runs in a ``SimulatedWorld`` (one thread, every order of events)
and in a ``RealWorld`` (processes, a bus, a database server).  Between two
verbs no mutating operation reaches the cloud but those that ``after`` lets
through: an interruption comes at the same point in both.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from heatconv.testing.cloud import AuditEntry
from heatconv.testing.failures import FailureRule, Outcome
from heatconv.testing.templates import Template, differences, resource_of

Json = dict[str, Any]

#: What ``Stacks.state`` returns of a stack that is deleted.
GONE = "GONE"


class Stacks(Protocol):
    """What a user of heatconv does."""

    def create(self, name: str, template: Json, *, rollback: bool) -> None:
        """Create a stack."""

    def update(self, name: str, template: Json, *, rollback: bool) -> None:
        """Update a stack."""

    def delete(self, name: str) -> None:
        """Delete a stack."""

    def abandon(self, name: str) -> None:
        """Delete a stack, and nothing that it stands for."""

    def roll_back(self, name: str) -> None:
        """Bring a stack back to the last template that completed."""

    def state(self, name: str) -> str:
        """Return action and status, like ``CREATE_COMPLETE``, or ``GONE``."""


class Witness(Protocol):
    """What a test sees of a cloud, and does to it."""

    def owned(self, owner: str = "") -> list[Json]:
        """Return every object whose owner tag starts with ``owner``."""

    def audit(self, since: int = 0) -> Sequence[AuditEntry]:
        """Return the operations from sequence number ``since`` on."""

    def fail(self, rule: FailureRule) -> None:
        """Put a failure rule in force."""

    def spoil(self, object_id: str) -> None:
        """Let an object be in ERROR behind everybody's back."""

    def stop_failing(self) -> None:
        """Drop every failure rule."""


@dataclass(frozen=True)
class _Mark:
    """A moment that later ones are compared with."""

    sequence: int = 0
    ids: Mapping[str, str] = field(default_factory=dict)  #: object id by owner


class World(ABC):
    """The verbs a scenario is written in.

    ``prefix`` keeps the stacks of scenarios apart that share a deployment.
    """

    def __init__(self, stacks: Stacks, cloud: Witness, prefix: str = "") -> None:
        self._stacks = stacks
        self._cloud = cloud
        self._prefix = prefix
        self._mark = _Mark()
        self._left: set[str] = set()
        self.rough = False  #: whether workers may die
        self.names: set[str] = set()  #: the stacks ever asked for

    # -- what users ask -------------------------------------------------------------

    def create(self, name: str, template: Template, *, rollback: bool = False) -> None:
        """Create a stack; with ``rollback`` it is rolled back should that fail."""
        self.names.add(self._prefix + name)
        self._stacks.create(self._prefix + name, template.hot(), rollback=rollback)

    def update(self, name: str, template: Template, *, rollback: bool = False) -> None:
        """Update a stack; with ``rollback`` it is rolled back should that fail."""
        self._stacks.update(self._prefix + name, template.hot(), rollback=rollback)

    def delete(self, name: str) -> None:
        """Delete a stack."""
        self._stacks.delete(self._prefix + name)

    def abandon(self, name: str) -> None:
        """Delete a stack, and nothing that it stands for."""
        self._stacks.abandon(self._prefix + name)

    def rollback(self, name: str) -> None:
        """Bring a stack back to the last template that completed."""
        self._stacks.roll_back(self._prefix + name)

    # -- what happens meanwhile --------------------------------------------------------

    @abstractmethod
    def after(self, count: int) -> None:
        """Let ``count`` mutating operations of the cloud happen, and hold the rest."""

    @abstractmethod
    def settle(self) -> None:
        """Let everything happen, until nothing is left to happen."""

    def fail_next(
        self,
        resource: str,
        op: str = "create",
        *,
        times: int | None = 1,
        status: int = 400,
        outcome: Outcome = Outcome.REFUSE,
    ) -> None:
        """Make the cloud fail the next operations on a resource (all of them if ``times`` is None)."""
        self._cloud.fail(
            FailureRule(op=op, owner=f"*/{resource}", status=status, times=times, outcome=outcome)
        )

    def hang_next(self, resource: str, op: str = "delete") -> None:
        """Make the cloud accept the next operation on a resource, and never do it."""
        self.fail_next(resource, op, outcome=Outcome.HANG)

    def spoil(self, name: str, resource: str) -> None:
        """Let what a resource was at the mark be in ERROR behind everybody's back."""
        (owner,) = self._owners(name, [resource])
        self._cloud.spoil(self._mark.ids[owner])

    def stop_failing(self) -> None:
        """Make the cloud well again."""
        self._cloud.stop_failing()

    # -- what must be so ------------------------------------------------------------------

    def verify(self, name: str, template: Template, status: str = "COMPLETE") -> None:
        """Assert that reality is what the template says, and that the stack's state ends in ``status``."""
        problems = differences(template, self._objects(name)) + self._twins(name)
        there = {found["id"] for found in self._cloud.owned()}
        problems += [f"{left} was left behind, and is gone" for left in self._left - there]
        state = self._stacks.state(self._prefix + name)
        if not state.endswith(status):
            problems.insert(0, f"{name} is {state}, wanted {status}")
        _insist(not problems, "\n".join([*problems, *self._history(name)]))

    def verify_gone(self, name: str) -> None:
        """Assert that neither the stack nor anything it made is there."""
        self.verify(name, Template(), status=GONE)

    def mark(self) -> None:
        """Remember this moment for ``untouched``, ``kept``, ``replaced`` and ``idle``."""
        log = self._cloud.audit(self._mark.sequence)
        self._mark = _Mark(
            self._mark.sequence + len(log),
            {found["owner"]: found["id"] for found in self._cloud.owned() if found["id"] not in self._left},
        )

    def untouched(self, name: str, *resources: str) -> None:
        """Assert that since the mark the cloud was asked nothing about these resources."""
        asked = [entry for entry in self.audit() if entry.owner in self._owners(name, resources)]
        _insist(not asked, f"{resources} should be left alone: {asked}")

    def idle(self) -> None:
        """Assert that since the mark the cloud was asked nothing at all."""
        _insist(not self.audit(), f"the cloud should be left alone: {self.audit()}")

    def kept(self, name: str, *resources: str) -> None:
        """Assert that these resources are the same objects as at the mark."""
        now = {found["owner"]: found["id"] for found in self._objects(name)}
        for owner in self._owners(name, resources):
            _insist(now.get(owner) == self._mark.ids[owner], f"{owner} should be the object it was")

    def replaced(self, name: str, *resources: str) -> None:
        """Assert that these resources are other objects than at the mark."""
        now = {found["owner"]: found["id"] for found in self._objects(name)}
        for owner in self._owners(name, resources):
            fresh = now.get(owner) not in (None, self._mark.ids[owner])
            _insist(fresh, f"{owner} should be another object")

    def left(self, name: str, *resources: str) -> None:
        """Assert that what these resources were at the mark is there; from now on it has to stay.

        It does not count any more as anything of the stack's.
        """
        ids = {self._mark.ids[owner] for owner in self._owners(name, resources)}
        gone = ids - {found["id"] for found in self._cloud.owned()}
        _insist(not gone, f"{resources} should be left: {gone} are gone")
        self._left |= ids

    def in_order(self, op: str, name: str, *resources: str) -> None:
        """Assert that since the mark ``op`` was done to these resources in this order."""
        done = [entry.owner for entry in self.audit() if entry.op == op and entry.succeeded]
        wanted = self._owners(name, resources)
        went = list(dict.fromkeys(owner for owner in done if owner in wanted))
        _insist(went == wanted, f"{op} should go {wanted}, went {went}")

    def once(self, op: str, name: str, *resources: str) -> None:
        """Assert that since the mark ``op`` was done to each of these resources once.

        Where workers may die it may have been done again: nobody knows that the dead one did it.
        """
        done = [entry.owner for entry in self.audit() if entry.op == op and entry.succeeded]
        for owner in self._owners(name, resources):
            _insist(
                done.count(owner) == 1 or (self.rough and done.count(owner) > 1),
                f"{op} of {owner} should happen once, happened {done.count(owner)} times",
            )

    def audit(self) -> Sequence[AuditEntry]:
        """Return what the cloud was asked since the mark."""
        return self._cloud.audit(self._mark.sequence)

    # -- how that is known --------------------------------------------------------------------

    def _owners(self, name: str, resources: Sequence[str]) -> list[str]:
        return [f"{self._prefix}{name}/{resource}" for resource in resources]

    def _objects(self, name: str) -> list[Json]:
        owned = self._cloud.owned(f"{self._prefix}{name}/")
        return [found for found in owned if found["id"] not in self._left]

    def _twins(self, name: str) -> list[str]:
        """Return a complaint for each object that was made while another of its name was there."""
        made: dict[str, str] = {}
        twins = []
        for entry in self._cloud.audit():
            if not entry.succeeded or not entry.owner.startswith(f"{self._prefix}{name}/"):
                continue
            if entry.op == "create":
                if entry.name in made:
                    twins.append(f"{entry.name} was made twice")
                made[entry.name] = str(entry.object_id)
            elif entry.op == "delete":
                made.pop(entry.name, None)
        return twins

    def _history(self, name: str) -> list[str]:
        """Return the story so far, for the reader of a scenario's failure."""
        owner = f"{self._prefix}{name}/"
        names = {found["id"]: resource_of(found) for found in self._objects(name)}
        return [
            f"  {entry.sequence} {entry.op} {entry.owner} {entry.object_id} -> {entry.result}"
            + (f" {entry.properties}" if entry.properties else "")
            for entry in self._cloud.audit()
            if entry.owner.startswith(owner) and entry.op not in ("show", "find")
        ] + [f"  live: {names}"]


def _insist(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - that is what assert takes
    if not holds:
        raise AssertionError(otherwise)


def load(folder: Path) -> dict[str, Callable[[World], None]]:
    """Return the scenarios of a folder by their modules' names."""
    scenarios = {}
    for path in sorted(folder.glob("[a-z]*.py")):
        specification = importlib.util.spec_from_file_location(f"scenarios.{path.stem}", path)
        if specification is None or specification.loader is None:
            raise ImportError(f"{path} cannot be imported")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        scenarios[path.stem] = module.scenario
    return scenarios
