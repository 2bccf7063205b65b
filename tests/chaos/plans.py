# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.chaos.plans --edits N --seed S --database D [--kind word|fence]``.

Do plans keep their word?

``word``: random edits are planned and applied, half of them of stacks that have drifted.
``fence``: plans are applied after others have changed the stack, be it what the plan touches or not.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.fenced import Fence
from tests.chaos.kept_words import KeptWords
from tests.chaos.planned import running
from tests.functional.servers import schema
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import DATABASE_SERVERS, RABBITMQ
from tests.functional.servers.databases import Databases, MariaDB, PostgreSQL


def _say(*lines: str) -> None:
    print("\n".join(lines), flush=True)  # noqa: T201 - a command's answer


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos.plans", description="Do plans keep their word?"
    )
    parser.add_argument("--edits", type=int, default=200, help="how many plans are made and applied")
    parser.add_argument("--seed", type=int, default=None, help="what the choices follow from; printed")
    parser.add_argument("--database", choices=["sqlite", *sorted(DATABASE_SERVERS)], default="postgresql")
    parser.add_argument("--kind", choices=["word", "fence"], default="word")
    parser.add_argument("--directory", type=Path, help="where the daemons' logs go (a temporary one)")
    given = parser.parse_args()
    if given.kind == "fence" and given.database == "sqlite":
        parser.error(
            "with sqlite all is one process, of which no part can be killed: choose another database"
        )
    start = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    directory = given.directory or Path(tempfile.mkdtemp(prefix="heatconv-plans-"))
    directory.mkdir(parents=True, exist_ok=True)
    again = f"python -m tests.chaos.plans --edits {given.edits} --seed {start} --database {given.database}"
    again += f" --kind {given.kind}"
    _say(again, f"logs in {directory}")
    with ExitStack() as until:
        database_url, transport_url = "", None
        if given.database != "sqlite":
            server = DATABASE_SERVERS[given.database].provide(until)
            databases = Databases(
                (PostgreSQL if given.database == "postgresql" else MariaDB)(server), schema.migrate
            )
            until.callback(databases.close)
            database_url, transport_url = databases.fresh(), own_bus(RABBITMQ.provide(until), until)
        kind = Fence if given.kind == "fence" else KeptWords
        service = until.enter_context(
            running(directory, database_url, transport_url, **kind.options(directory))
        )
        judge = kind(service, start)
        shown = 0
        for line in judge.run(given.edits):
            _say(*judge.misses[shown:], line)
            shown = len(judge.misses)
    _say(f"{given.database}: {judge.summary()}", f"again: {again}")
    return 1 if judge.misses else 0


if __name__ == "__main__":
    sys.exit(main())
