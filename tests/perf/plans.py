# SPDX-License-Identifier: Apache-2.0
"""Print the statements and the seconds that plans take of one change, or of some, of a large stack.

python -m tests.perf.plans --database URL [--sizes 100,10000]

The database is real, and filled as if workers had made the stack; there is none, and no bus. Each
tenth resource uses the one before it. The plan of a change is made, read, and applied as far as an
engine does that.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.db import rows
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import resource, stack
from heatconv.model.nodes import NodeData
from heatconv.model.states import Action, Phase, Status
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.template.resolve import resolve
from heatconv.testing.doorbell import NotedDoorbell
from heatconv.testing.keys import KEYRING
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import SERVER
from tests.perf.counting import count_statements
from tests.perf.tally import Tally

Json = dict[str, Any]

ME = RequestContext(project_id="perf", user_name="me")
USED, ALONE = 8, 5  #: the numbers of a resource that another uses, and of one that nobody does

#: What is changed, by what to call it.
CHANGES: dict[str, dict[int, Json]] = {
    "nothing": {},
    "one": {ALONE: {"value": "changed"}},
    "one that is used": {USED: {"flavor": "changed"}},
    "ten": {number * 10 + ALONE: {"value": "changed"} for number in range(10)},
}


def source(size: int, changed: dict[int, Json]) -> Json:
    """Return what a user posts of so many resources, some of which are changed."""
    resources = {}
    for number in range(size):
        properties: Json = {"value": f"v{number}", **changed.get(number, {})}
        if number % 10 == USED + 1:
            properties["uses"] = [{"get_resource": f"R{number - 1:06}"}]
        resources[f"R{number:06}"] = {"type": SERVER, "properties": properties}
    return {"template": {"heat_template_version": "2021-04-16", "resources": resources}}


def plant(database: Database, engine: Engine, size: int) -> str:
    """Make a stack that is as if it had been created; return its name."""
    name = f"plans-{size}"
    stack_id = engine.requests.create_stack(ME, name, source(size, {}), {})
    with database.engine.begin() as connection:
        mine = sa.select(resource).where(resource.c.stack_id == stack_id)
        found = {row.name: rows.resource(row) for row in connection.execute(mine).all()}
        for row in found.values():
            assert row.desired is not None
            used = {each: found[each] for each in row.desired.requires}
            given = {
                each: NodeData(name=each, resource_id=found[each].id, reference_id=f"id-{each}")
                for each in used
            }
            made = row.desired.changed(properties=resolve(row.desired.properties, given))
            values = {
                "applied": made.to_json(),
                "applied_sha1": row.desired_sha1,
                "action": Action.CREATE,
                "status": Status.COMPLETE,
                "physical_id": f"id-{row.name}",
                "reference_id": f"id-{row.name}",
                "output_version": 0,
                "requires": {each.id: 0 for each in used.values()},
            }
            this = sa.update(resource).where(resource.c.id == row.id)
            connection.execute(this.values(**placed(resource, values, row)))
        ended = {"status": Status.COMPLETE, "phase": Phase.DONE}
        connection.execute(sa.update(stack).where(stack.c.id == stack_id).values(**ended))
    return name


def main() -> None:
    """Plant, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--sizes", default="100,10000")
    arguments = parser.parse_args()
    database = Database.from_url(arguments.database, KEYRING)
    migration.upgrade(database)
    engine = Engine(database, Registry.load([PLUGIN_DIR]), NotedDoorbell(), EngineSettings(dead_after=3600))
    tally = Tally()
    count_statements(database.engine, tally)
    print(f"{'what':<34}{'size':>8}{'statements':>11}{'seconds':>9}{'touched':>9}{'bytes':>10}")
    for size in map(int, arguments.sizes.split(",")):
        name = plant(database, engine, size)
        for what, changed in CHANGES.items():
            _plan(engine, name, source(size, changed))  # connects, compiles
            make = functools.partial(_plan, engine, name, source(size, changed))
            plan = _print(f"plan of {what}", size, tally, make, engine)
        _print("apply the last", size, tally, functools.partial(_apply, engine, plan), engine)
    database.close()


def _plan(engine: Engine, name: str, posted: Json) -> str:
    return str(engine.plans.create_plan(ME, name, "update", posted, {})["id"])


def _apply(engine: Engine, plan: str) -> str:
    engine.plans.apply_plan(ME, plan)
    return plan


def _print(what: str, size: int, tally: Tally, ask: Callable[[], str], engine: Engine) -> str:
    tally.take()
    begun = time.perf_counter()
    plan = ask()
    seconds, statements = time.perf_counter() - begun, tally.take()["statements"]
    shown = engine.plans.show_plan(ME, plan)
    figures = (
        f"{size:>8}{statements:>11}{seconds:>9.2f}{len(shown['resources']):>9}{len(json.dumps(shown)):>10}"
    )
    print(f"{what:<34}{figures}", flush=True)
    return plan


if __name__ == "__main__":
    main()
