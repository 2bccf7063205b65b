# SPDX-License-Identifier: Apache-2.0
"""What it costs to look at many resources: ``python -m tests.perf.observing --database URL``.

python -m tests.perf.observing --database URL [--resources 10000] [--interval 300]

One observer looks at a stack in which nothing has changed, all of it once. Its
statements, its calls to the cloud and its CPU time are printed, for the round
and by the minute, and how many calls it would take to ask for each resource
alone. The cloud is in the same process, so its CPU time is in there as well.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from heatconv.db.tables import stack_observed
from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from tests.functional.observer.test_cost import counted, template
from tests.functional.observer.world import ObservedWorld
from tests.functional.servers.schema import migrate
from tests.perf import report
from tests.perf.machine import facts


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", help="empty, and nobody else's; an SQLite file if it is not given")
    parser.add_argument("--resources", type=int, default=10_000)
    parser.add_argument("--interval", type=float, default=300)
    arguments = parser.parse_args()
    os.environ["HEATCONV_FAKE_CLOUD"] = "memory:"
    with tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory:
        url = arguments.database or f"sqlite:///{Path(directory, 'observing.db')}"
        migrate(url)
        world = ObservedWorld(url, Registry.load([PLUGIN_DIR]))
        try:
            report.say({"facts": facts(url), "arguments": report.given(arguments)})
            report.say(_round(world, arguments.resources, arguments.interval))
        finally:
            world.close()


def _round(world: ObservedWorld, resources: int, interval: float) -> dict[str, float]:
    """Have a stack made and looked at once, then count what the next look at all of it takes."""
    world.create_with(template(resources), "detect")
    _look_at_all(world)
    begun = len(world.cloud.audit())
    with counted(world.observer) as statements:
        seconds = _look_at_all(world)
    calls = sum(entry.op.startswith("show") for entry in world.cloud.audit(begun))
    minutes = interval / 60
    return {
        "resources": resources,
        "calls": calls,
        "statements": len(statements),
        "cpu_seconds": round(seconds, 2),
        "calls_a_minute": round(calls / minutes, 1),
        "statements_a_minute": round(len(statements) / minutes, 1),
        "cpu_seconds_a_minute": round(seconds / minutes, 2),
        "calls_one_by_one": resources,
    }


def _look_at_all(world: ObservedWorld) -> float:
    """Have the stack's turns come, one after the other, until all of it was looked at; return CPU seconds."""
    worked = 0.0
    while True:
        world.time_passes()
        began = time.process_time()
        world.observer.tick()
        worked += time.process_time() - began
        [known] = world.select(stack_observed)
        if known.cursor is None:
            return worked


if __name__ == "__main__":
    main()
