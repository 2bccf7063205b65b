# SPDX-License-Identifier: Apache-2.0
"""Very large stacks, made of nested ones: ``python -m tests.perf.large groups`` or ``servers``.

python -m tests.perf.large groups --database URL --transport URL [--count 1000] [--members 1000]
python -m tests.perf.large servers --database URL --transport URL [--count 10000] [--wait-secs 30]

``groups``: one stack of so many groups, each of so many members that do nothing, is
created, one of its groups scaled by ten, and all of it deleted.

``servers``: a group of nested stacks, each a port, a volume, a server, an attachment and a
floating IP, is created twice: at once, and with servers that take so many seconds to come up.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from heatconv.db.tables import resource
from tests.perf import report
from tests.perf.bench import Bench
from tests.perf.deployment import Measured
from tests.perf.machine import facts
from tests.perf.measuring import Record
from tests.perf.shapes import VERSION, Json

PATIENCE = 4 * 3600.0  #: seconds that an operation may take
MORE = 10  #: members that a group is scaled by
PARTS = 10  #: a creation is looked at in so many parts

#: What the resources of a server need of one another.
SERVER = {
    "port": (),
    "volume": (),
    "server": ("port",),
    "attachment": ("server", "volume"),
    "floating_ip": ("server",),
}


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    fleet = {
        "engines": arguments.engines,
        "workers": arguments.workers,
        "executor": arguments.executor,
    }
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Measured(Path(directory), **servers, **fleet) as daemons,
    ):
        bench = Bench(daemons, arguments.database, patience=PATIENCE)
        for _ in bench.life("wide", 100):
            pass  # warms up
        for record in (_groups if arguments.what == "groups" else _servers)(bench, arguments):
            report.say({"shape": arguments.what, "size": arguments.count, **record})
        bench.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("groups", "servers"))
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--count", type=int, default=1000, help="of groups, or of servers")
    parser.add_argument("--members", type=int, default=1000, help="of each group")
    parser.add_argument("--wait-secs", type=float, default=30, help="what a server takes to come up")
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--executor", choices=("threading", "eventlet"), default="threading")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def _groups(bench: Bench, arguments: argparse.Namespace) -> Iterator[Record]:
    """Take a stack of groups through its life."""
    count, members = arguments.count, arguments.members
    total = count * (members + 1)
    body = {"template": of_groups(count, members, members)}
    scaled = {"template": of_groups(count, members, members + MORE)}
    created = bench.operation("create", total, lambda: bench.start("large", body))
    yield created | {"parts_per_second": _parts(bench.connection)}
    yield bench.operation("scale", MORE, lambda: bench.update("large", scaled))
    yield bench.operation("delete", total + MORE, lambda: bench.delete("large"))


def of_groups(count: int, members: int, of_first: int) -> Json:
    """Return a template of so many groups, with so many members each but for the first one."""
    return _hot(
        {
            f"g{number}": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {
                    "count": of_first if number == 0 else members,
                    "resource_def": {"type": "OS::Heat::None", "properties": {"value": "%index%"}},
                },
            }
            for number in range(count)
        }
    )


def _servers(bench: Bench, arguments: argparse.Namespace) -> Iterator[Record]:
    """Create servers that are there at once, then some that take their time."""
    total = 1 + arguments.count * (1 + len(SERVER))
    for name, seconds in (("at-once", 0.0), ("waiting", arguments.wait_secs)):
        body = _of_servers(arguments.count, seconds)
        create = bench.operation("create", total, partial(bench.start, name, body))
        yield create | {"wait_secs": seconds}


def _of_servers(count: int, wait_secs: float) -> Mapping[str, Any]:
    unit = {
        name: {
            "type": "OS::Heat::TestResource",
            "properties": {"value": name, **({"wait_secs": wait_secs} if name == "server" else {})},
            **({"depends_on": list(needs)} if needs else {}),
        }
        for name, needs in SERVER.items()
    }
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": count, "resource_def": {"type": "server.yaml"}},
    }
    return {"template": _hot({"servers": group}), "files": {"server.yaml": json.dumps(_hot(unit))}}


def _hot(resources: Json) -> Json:
    return {"heat_template_version": VERSION, "resources": resources}


def _parts(connection: sa.Connection) -> list[float]:
    """Return how many resources a second became complete in each part of a creation that has ended."""
    total = connection.scalar(sa.select(sa.func.count()).select_from(resource)) or 0
    began = connection.scalar(sa.select(sa.func.min(resource.c.created_at)))
    share = total // PARTS
    in_order = sa.select(resource.c.updated_at).order_by(resource.c.updated_at).limit(1)
    ends = [connection.scalar(in_order.offset(share * part - 1)) for part in range(1, PARTS + 1)]
    return [
        round(share / (end - start).total_seconds(), 1)
        for start, end in zip([began, *ends], ends, strict=False)
    ]


if __name__ == "__main__":
    main()
