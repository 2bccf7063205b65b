# SPDX-License-Identifier: Apache-2.0
"""What stacks take up in a database: ``python -m tests.perf.stored --database URL``.

python -m tests.perf.stored --database URL [--small 500] [--large 10000]

So many stacks of five resources, and one of so many independent resources, are created by an engine and a
worker in this process, and then updated.  After each, what the tables and their indexes have become larger
by is printed: bytes for each resource, and rows by table.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import metadata
from heatconv.resources.registry import Registry
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import Template, attr, thing
from tests.functional.core.world import World
from tests.perf import report
from tests.perf.machine import facts

FIVE = 5

#: How many bytes the tables and their indexes have, by database.
_BYTES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables",
    "mysql": "SELECT sum(data_length + index_length) FROM information_schema.tables"
    " WHERE table_schema = database()",
}
_BYTES["mariadb"] = _BYTES["mysql"]

#: What a server does by itself some time after rows have gone, so that their place is taken by others.
_TIDY = {
    "sqlite": (),
    "postgresql": ("VACUUM (ANALYZE)",),
    "mysql": tuple(f"ANALYZE TABLE {name}" for name in metadata.tables),
}
_TIDY["mariadb"] = _TIDY["mysql"]


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    os.environ["HEATCONV_FAKE_CLOUD"] = "memory:"
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    database = Database.from_url(arguments.database)
    migration.upgrade(database)
    world = World(arguments.database, Registry.load([PLUGIN_DIR]))
    many, one = FIVE * arguments.small, arguments.large
    _measured(database, "stacks of five, created", many, lambda: _small(world, arguments.small))
    _measured(database, "one stack, created", one, lambda: _create(world, "wide", _wide(one, "x")))
    _measured(database, "one stack, all changed", one, lambda: _update(world, _wide(one, "y")))
    world.close()
    database.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--small", type=int, default=500, help="stacks of five resources")
    parser.add_argument("--large", type=int, default=10_000, help="resources of the large one")
    return parser.parse_args()


def _measured(database: Database, what: str, resources: int, happens: Callable[[], None]) -> None:
    tidy(database)
    before = size(database)
    happens()
    tidy(database)
    after = size(database)
    more = {name: count - before["rows"].get(name, 0) for name, count in after["rows"].items()}
    report.say(
        {
            "what": what,
            "resources": resources,
            "bytes": after["bytes"] - before["bytes"],
            "bytes_per_resource": round((after["bytes"] - before["bytes"]) / resources),
            "rows": {name: count for name, count in more.items() if count},
        }
    )


def _small(world: World, count: int) -> None:
    """Create stacks of the shape A, B -> C -> D, E."""
    members = {
        "a": thing("a"),
        "b": thing("b"),
        "c": thing(attr("a", "id"), depends_on=("b",)),
        "d": thing(attr("c", "id")),
        "e": thing(attr("c", "id")),
    }
    for number in range(count):
        _create(world, f"five-{number}", Template(**members))


def _wide(count: int, value: str) -> Template:
    return Template(**{f"r{number}": thing(f"{value}{number}") for number in range(count)})


def _create(world: World, name: str, wanted: Template) -> None:
    world.create(wanted, name=name)
    _end(world, "CREATE_COMPLETE")


def _update(world: World, wanted: Template) -> None:
    world.update(wanted)
    _end(world, "UPDATE_COMPLETE")


def _end(world: World, state: str) -> None:
    world.run()
    if world.state != state:
        raise RuntimeError(world.state)


def tidy(database: Database) -> None:
    """Have a server tidy up now, which it would do by itself once a minute."""
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in _TIDY[database.engine.dialect.name]:
            connection.exec_driver_sql(statement)


def size(database: Database) -> dict[str, Any]:
    """Return the bytes that all tables and their indexes have, and the rows that each has that has some."""
    kind = database.engine.dialect.name
    with database.engine.connect() as connection:
        found = int(connection.exec_driver_sql(_BYTES[kind]).scalar_one())
        counted = {
            name: connection.scalar(sa.select(sa.func.count()).select_from(table))
            for name, table in metadata.tables.items()
        }
    return {"bytes": found, "rows": {name: rows for name, rows in counted.items() if rows}}


if __name__ == "__main__":
    main()
