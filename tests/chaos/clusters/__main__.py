# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.chaos.clusters --kind galera --minutes N --seed S``."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.clusters.kinds import KINDS
from tests.chaos.run import play


def _say(*lines: str) -> None:
    print("\n".join(lines), flush=True)  # noqa: T201 - a command's answer


def _keep_logs(servers: Path, directory: Path) -> None:
    for log in servers.glob("*/log"):
        shutil.copy(log, directory / f"{log.parent.name}.log")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos.clusters", description="Put heatconv through what happens to clusters."
    )
    parser.add_argument("--kind", choices=sorted(KINDS), required=True)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long things go wrong")
    parser.add_argument("--seed", type=int, default=None, help="what the choices follow from; printed")
    parser.add_argument("--directory", type=Path, help="where the daemons' logs go (a temporary one)")
    parser.add_argument(
        "--without", action="append", default=[], help="leave out a setting that the how-to says is needed"
    )
    given = parser.parse_args()
    start = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    directory = given.directory or Path(tempfile.mkdtemp(prefix="heatconv-clusters-"))
    directory.mkdir(parents=True, exist_ok=True)
    again = f"python -m tests.chaos.clusters --kind {given.kind} --minutes {given.minutes:g} --seed {start}"
    again += "".join(f" --without {each}" for each in given.without)
    _say(again, f"logs in {directory}")
    with ExitStack() as until:
        servers = Path(until.enter_context(tempfile.TemporaryDirectory(prefix="heatconv-cluster-")))
        until.callback(_keep_logs, servers, directory)
        grounds = KINDS[given.kind](servers, str(start), frozenset(given.without), until)
        report = play(
            directory,
            start=start,
            seconds=given.minutes * 60,
            database_url=grounds.database_url,
            transport_url=grounds.transport_url,
            beside=grounds.troubles,
        )
    _say(*report.lines, *report.problems, f"again: {again}")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
