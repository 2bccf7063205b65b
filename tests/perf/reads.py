# SPDX-License-Identifier: Apache-2.0
"""Print the statements and the milliseconds that reads take, with many stacks in the database.

python -m tests.perf.reads --database URL [--stacks 1000] [--resources 50] [--rounds 50]

The database is real and filled at once, with no engine or worker at work.  A
request goes through the WSGI application, the functions of the engine and the
database; there is no socket and no bus in between, which cost the same whatever is
asked.  ``cpu`` is what this process worked, without the database server.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping
from typing import Any

from falcon import testing
from oslo_config import cfg

from heatconv import conf as options
from heatconv.api import deploy
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.engine.event_reads import EventReads
from heatconv.engine.reads import Reads
from heatconv.engine.resource_reads import ResourceReads
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient
from heatconv.testing.keys import KEYRING
from tests.functional.api.planted import PROJECT, Planted, at
from tests.perf.counting import count_statements
from tests.perf.tally import Tally

EVENTS = 3  #: of each resource


class DirectCaller:
    """Calls the engine's reads in this process; implements ``heatconv.rpc.endpoint.Caller``."""

    def __init__(self, database: Database) -> None:
        registry = Registry.load()
        self._parts = (
            Reads(database, dead_after=10),
            ResourceReads(database, registry, lambda _stack, name: f"http://signal/{name}"),
            EventReads(database),
        )

    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        """Call a method of whichever part has it."""
        part = next(part for part in self._parts if hasattr(part, method))
        return getattr(part, method)(context, **arguments)


def plant(database: Database, *, stacks: int, resources: int) -> str:
    """Fill a database; return the path of one stack, somewhere in the middle."""
    rows = Planted()
    owner = None
    path = ""
    for number in range(stacks):
        # Some run, some are nested: what a row of a list may need on top.
        running = {"status": "IN_PROGRESS", "phase": "UPDATE"} if number % 10 == 1 else {}
        nested = {"owner_resource_id": owner} if number % 10 == 2 else {}
        name = f"stack-{number}"
        stack = rows.stack(name, tags=("blue", "green"), updated_at=at(number), **running, **nested)
        for index in range(resources):
            requires = (f"r{index - 1}",) if index else ()
            row = rows.resource(stack, f"r{index}", requires=requires)
            owner = owner or row
            for _ in range(EVENTS):
                rows.event(stack, f"r{index}")
        if number == stacks // 2:
            path = f"/v1/{PROJECT}/stacks/{name}/{stack}"
    rows.write(database)
    return path


def paths(stack: str, stacks: int) -> Mapping[str, str]:
    """Return what is asked, by what to call it."""
    listed = f"/v1/{PROJECT}/stacks?show_nested=true&with_count=true"
    pages = {f"list, page of {size}": f"{listed}&limit={size}" for size in (10, 100, 1000) if size <= stacks}
    return pages | {
        "list, one by name": f"{listed}&name=stack-1",
        "show": stack,
        "show without outputs": f"{stack}?resolve_outputs=false",
        "resources": f"{stack}/resources",
        "resource": f"{stack}/resources/r0",
        "metadata": f"{stack}/resources/r0/metadata",
        "events, page of 100": f"{stack}/events?limit=100",
        "template": f"{stack}/template",
    }


def main() -> None:
    """Plant, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--stacks", type=int, default=1000)
    parser.add_argument("--resources", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=50)
    arguments = parser.parse_args()
    database = Database.from_url(arguments.database, KEYRING)
    migration.upgrade(database)
    stack = plant(database, stacks=arguments.stacks, resources=arguments.resources)
    tally = Tally()
    count_statements(database.engine, tally)
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    conf.set_override("allowed_hosts", ["falconframework.org"], "api")
    client = testing.TestClient(deploy.application(EngineClient(DirectCaller(database)), conf))
    print(f"{'read':<24}{'statements':>11}{'median ms':>11}{'p95 ms':>9}{'cpu ms':>8}{'bytes':>9}")
    for what, path in paths(stack, arguments.stacks).items():
        _print(what, client, path, tally, arguments.rounds)
    database.close()


def _print(what: str, client: testing.TestClient, path: str, tally: Tally, rounds: int) -> None:
    client.simulate_get(path)  # connects, compiles, proves the stack's name
    tally.take()
    answer = client.simulate_get(path)
    statements = tally.take()["statements"]
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.text}")
    times, worked = [], time.process_time()
    for _ in range(rounds):
        begun = time.perf_counter()
        client.simulate_get(path)
        times.append(1000 * (time.perf_counter() - begun))
    cpu = 1000 * (time.process_time() - worked) / rounds
    median, p95 = statistics.median(times), sorted(times)[int(0.95 * rounds)]
    figures = f"{statements:>11}{median:>11.1f}{p95:>9.1f}{cpu:>8.1f}{len(answer.content):>9}"
    print(f"{what:<24}{figures}", flush=True)


if __name__ == "__main__":
    main()
