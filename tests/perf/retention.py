# SPDX-License-Identifier: Apache-2.0
"""Whether a database stays as large as it is: ``python -m tests.perf.retention --database URL``.

python -m tests.perf.retention --database URL [--stacks 10000] [--every 100]

So many stacks of four resources are created, updated and deleted, one after the other, by an engine and a
worker in this process; after each ``--every`` of them the engine purges, as it does by the clock.  What
there is after the first half is held against what there is after the second: bytes, and rows by table.
"""

from __future__ import annotations

import argparse
import os
import time

from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.engine.purging import Purging, Retention
from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import Template, attr, thing
from tests.functional.core.world import World
from tests.perf import report
from tests.perf.machine import facts
from tests.perf.stored import size, tidy

MORE = 0.05  #: of the bytes after the first half, that there may be more after the second


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    os.environ["HEATCONV_FAKE_CLOUD"] = "memory:"
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    database = Database.from_url(arguments.database)
    migration.upgrade(database)
    world = World(arguments.database, Registry.load([PLUGIN_DIR]))
    purging = Purging(world.database, Retention(deleted_stacks=0, every=0), keep_events=1000)
    halves = []
    for half in ("first", "second"):
        begun = time.monotonic()
        for number in range(1, arguments.stacks // 2 + 1):
            _live(world)
            if number % arguments.every == 0:
                purging.tick()
                tidy(database)
        purging.tick()
        tidy(database)
        found = {"half": half, "seconds": round(time.monotonic() - begun, 1), **size(database)}
        report.say(found)
        halves.append(found)
    world.close()
    database.close()
    first, second = halves
    grown = second["bytes"] / first["bytes"] - 1
    report.say({"grown_percent": round(100 * grown, 2), "same_rows": first["rows"] == second["rows"]})
    if grown > MORE or first["rows"] != second["rows"]:
        raise SystemExit("The database grows, though nothing more is in it.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--stacks", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=100, help="stacks from one purge to the next")
    return parser.parse_args()


def _live(world: World) -> None:
    """Take a stack from its creation to its deletion."""
    for value in ("x", "y"):
        wanted = Template(a=thing(value), b=thing(attr("a", "id")), c=thing("c"), d=thing(attr("b", "id")))
        if value == "x":
            world.create(wanted)
        else:
            world.update(wanted)
        world.run()
    world.delete()
    world.run()
    if world.state != "DELETE_COMPLETE":
        raise RuntimeError(world.state)


if __name__ == "__main__":
    main()
