# SPDX-License-Identifier: Apache-2.0
"""The world in one thread: the real engine and worker code over SQLite, scheduled by the simulator.

Workers are several, each with an engine id of its own; a message goes to any
of them.  With mishaps, messages get lost and workers die and are replaced;
then it is the engine's recovery that has to find what fell between.
"""

from __future__ import annotations

import copy
import itertools
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from heatconv import errors, testing
from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.assembly.worker import Worker, WorkerSettings
from heatconv.db.convergence import resources, services
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import metadata
from heatconv.model.nodes import Node
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.keys import KEYRING
from heatconv.testing.scenario import GONE, World
from heatconv.testing.simulator import (
    PATIENCE,
    Mishaps,
    SimulatedDoorbell,
    SimulatedGate,
    SimulatedTimer,
    Simulator,
)

Json = dict[str, Any]
Transact = Callable[[Callable[[Any], Any]], Any]

#: The folder to name in ``plugin_dirs`` for the fake cloud's resource types.
PLUGIN_DIR = str(Path(testing.__file__).parent / "plugins")

WORKERS = 3
TICK = 0.002  #: seconds; the resolution of SQLite's clock is one millisecond
FOREVER = 3600  #: seconds; the simulation is over before anything takes that long


class SimulatedStacks:
    """The stacks of one project, asked of the engine without a bus; implements ``Stacks``.

    A request is one task among the others, and each method returns when it is over.
    """

    def __init__(self, simulator: Simulator, engine: Engine) -> None:
        self._simulator = simulator
        self._requests = engine.requests
        self._lifecycle = engine.lifecycle
        self._reads = engine.reads
        self._context = RequestContext(project_id="simulated")

    def create(self, name: str, template: Json, *, rollback: bool) -> None:
        """Create a stack."""
        options = {"disable_rollback": not rollback}
        self._ask("create", self._requests.create_stack, name, {"template": template}, options)

    def update(self, name: str, template: Json, *, rollback: bool) -> None:
        """Update a stack."""
        options = {"disable_rollback": not rollback}
        self._ask(
            "update", self._requests.update_stack, name, {"template": template}, options, existing=False
        )

    def delete(self, name: str) -> None:
        """Delete a stack."""
        self._ask("delete", self._lifecycle.delete_stack, name)

    def abandon(self, name: str) -> None:
        """Delete a stack, and nothing that it stands for."""
        self._ask("abandon", partial(self._lifecycle.delete_stack, abandon=True), name)

    def roll_back(self, name: str) -> None:
        """Bring a stack back to the last template that completed."""
        self._ask("roll back", self._requests.rollback_stack, name)

    def _ask(self, what: str, method: Callable[..., object], *arguments: object, **options: object) -> None:
        answered: list[object] = []
        label = f"{what} {arguments[0]}"
        self._simulator.add(label, lambda: answered.append(method(self._context, *arguments, **options)))
        if not self._simulator.run_until(lambda: bool(answered)):
            raise AssertionError(f"{label} was never answered")

    def state(self, name: str) -> str:
        """Return action and status, or ``GONE``."""
        try:
            shown = self._reads.show_stack(self._context, name, resolve_outputs=False)
        except errors.NotFound:
            return GONE
        return f"{shown['action']}_{shown['status']}"


class SimulatedDatabase(Database):
    """SQLite in memory, that lets others go first after each transaction."""

    groups_abreast = sys.maxsize  #: each step is one's own: who waited for company would stop the world

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(KEYRING, connection="sqlite://")
        self.unpaused = copy.copy(self)  #: the same database, for questions of the simulation's own
        self.read = self._then_pause(self.read, simulator)
        self.write = self._then_pause(self.write, simulator)

    @staticmethod
    def _then_pause(transact: Transact, simulator: Simulator) -> Transact:
        def run(function: Callable[[Any], Any]) -> Any:
            result = transact(function)
            simulator.pause()
            return result

        return run


class SimulatedWorld(World):
    """A world whose every step is chosen by ``choice``.

    The cloud is that of the address ``memory:``, emptied; so there is one such
    world at a time.  ``close`` it.
    """

    def __init__(self, registry: Registry, choice: random.Random, mishaps: Mishaps | None = None) -> None:
        self._registry = registry
        self._mishaps = mishaps or Mishaps()
        self.simulator = Simulator(choice)
        self._gate = SimulatedGate(self.simulator)
        IN_PROCESS.reset(self._gate)
        IN_PROCESS.latency.update(create=1, update=1, delete=1)
        self._gate.hold_after(0)
        self._database = SimulatedDatabase(self.simulator)
        metadata.create_all(self._database.engine)
        self._doorbell = SimulatedDoorbell(
            choice, self._mishaps, self._in_order, self._deliver, self._deliver_rollback
        )
        settings = EngineSettings(dead_after=FOREVER, default_timeout=FOREVER)
        engine = Engine(self._database, registry, self._doorbell, settings)
        self._requests, self._recovery = engine.requests, engine.recovery
        stacks = SimulatedStacks(self.simulator, engine)
        super().__init__(stacks, IN_PROCESS)
        self.rough = self._mishaps.crash > 0
        self._numbers = itertools.count(1)
        self._workers = [self._new_worker() for _ in range(WORKERS)]

    def close(self) -> None:
        """Close the database."""
        for owner, _ in self._workers:
            self.simulator.kill(owner)
        self._database.close()

    # -- the verbs that let time pass --------------------------------------------------------

    def after(self, count: int) -> None:
        """Let ``count`` mutating operations of the cloud happen, and hold the rest."""
        wanted = self._gate.done + count
        self._gate.hold_after(count)
        if not self._run(lambda: self._gate.done >= wanted):
            raise AssertionError(f"only {self._gate.done - wanted + count} of {count} operations came")

    def let_run(self, steps: int) -> None:
        """Take up to so many steps, with nothing held: an interruption at any point whatever."""
        countdown = iter(range(steps))
        self._gate.release()
        self._run(lambda: next(countdown, None) is None)
        self._gate.hold_after(0)

    def settle(self) -> None:
        """Let everything happen, until nothing is left to happen."""
        self._gate.release()
        self._run(lambda: False)
        if self.simulator.pending:
            raise AssertionError(f"stuck: {[entry.label for entry in self.simulator.pending]}")
        self._gate.hold_after(0)

    def _run(self, reached: Callable[[], bool]) -> bool:
        """Take steps until something is so, or until nothing is left to happen; tell which."""
        for _ in range(PATIENCE):
            if reached():
                return True
            if self._mishaps.crash and self.simulator.choice.random() < self._mishaps.crash:
                self._replace_worker()
            if not self.simulator.step() and not self._recover():
                return False
        raise AssertionError(f"no end after {PATIENCE} steps: {self.simulator.history[-20:]}")

    def _recover(self) -> bool:
        """Where things get lost, let the engine look for them; tell whether anything is to be expected."""
        if not (self._mishaps.drop or self._mishaps.crash) or not self._in_progress():
            return False
        self.simulator.history.append("recovery")
        # What became READY up to now has to be older than now, by the database's clock.
        time.sleep(TICK)
        self._recovery.tick()
        return True

    def _in_progress(self) -> bool:
        return any(self._stacks.state(name).endswith("IN_PROGRESS") for name in self.names)

    def _replace_worker(self) -> None:
        """Kill a worker, and start one in its place."""
        victim = self.simulator.choice.randrange(WORKERS)
        engine_id, _ = self._workers[victim]
        self._workers[victim] = self._new_worker()
        self.simulator.kill(engine_id)
        services.forget(self._database, engine_id)

    # -- the bus and the processes ---------------------------------------------------------------

    def _in_order(self, nodes: Sequence[Node]) -> list[Node]:
        """Sort nodes by what is the same in every run; ids are not."""

        def key(node: Node) -> tuple[str, ...]:
            row = resources.find(self._database.unpaused, node.resource_id)
            place = (row.name, str(row.version), str(row.created_at)) if row else ()
            return (node.direction, *place)

        return sorted(nodes, key=key) if len(nodes) > 1 else list(nodes)

    def _deliver(self, stack_id: str, traversal_id: str, node: Node) -> None:
        owner, worker = self.simulator.choice.choice(self._workers)
        self.simulator.add(
            f"{owner[-4:]} checks {node}", partial(worker.checker.check, stack_id, traversal_id, node), owner
        )

    def _deliver_rollback(self, stack_id: str) -> None:
        self.simulator.add(f"roll back {stack_id}", partial(self._requests.prepare_rollback, stack_id))

    def _new_worker(self) -> tuple[str, Worker]:
        engine_id = f"00000000-0000-4000-8000-{next(self._numbers):012}"
        services.heartbeat(
            self._database,
            engine_id=engine_id,
            host="simulated",
            binary="heatconv-worker",
            topic="heatconv-worker",
            interval=FOREVER,
        )
        worker = Worker(
            self._database,
            self._registry,
            self._doorbell,
            SimulatedTimer(self.simulator, engine_id),
            WorkerSettings(engine_id=engine_id, dead_after=FOREVER, retry_limit=5),
        )
        return engine_id, worker
