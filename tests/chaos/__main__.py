# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.chaos --minutes N --seed S --database postgresql|mariadb [--rolling]``."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.rolling import roll
from tests.chaos.run import play
from tests.functional.servers import schema
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import DATABASE_SERVERS, RABBITMQ
from tests.functional.servers.databases import Databases, MariaDB, PostgreSQL


def _say(*lines: str) -> None:
    print("\n".join(lines), flush=True)  # noqa: T201 - a command's answer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Put heatconv through chaos.")
    parser.add_argument("--minutes", type=float, default=2.0, help="how long things go wrong")
    parser.add_argument("--seed", type=int, default=None, help="what the choices follow from; printed")
    parser.add_argument("--database", choices=sorted(DATABASE_SERVERS), default="postgresql")
    parser.add_argument("--directory", type=Path, help="where the daemons' logs go (a temporary one)")
    parser.add_argument(
        "--restart-servers", action="store_true", help="cut the database and the bus off for seconds, too"
    )
    parser.add_argument(
        "--rolling",
        action="store_true",
        help="replace daemons by those of the last release, and back, instead",
    )
    given = parser.parse_args()
    start = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    directory = given.directory or Path(tempfile.mkdtemp(prefix="heatconv-chaos-"))
    directory.mkdir(parents=True, exist_ok=True)
    again = f"python -m tests.chaos --minutes {given.minutes:g} --seed {start} --database {given.database}"
    again += " --restart-servers" * given.restart_servers + " --rolling" * given.rolling
    _say(again, f"logs in {directory}")
    with ExitStack() as until:
        server = DATABASE_SERVERS[given.database].provide(until)
        databases = Databases(
            (PostgreSQL if given.database == "postgresql" else MariaDB)(server), schema.migrate
        )
        until.callback(databases.close)
        bus, seconds = own_bus(RABBITMQ.provide(until), until), given.minutes * 60
        if given.rolling:
            report = roll(
                directory, start=start, seconds=seconds, database_url=databases.empty(), transport_url=bus
            )
        else:
            report = play(
                directory,
                start=start,
                seconds=seconds,
                database_url=databases.fresh(),
                transport_url=bus,
                restart_servers=given.restart_servers,
            )
    _say(*report.lines, *report.problems, f"again: {again}")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
