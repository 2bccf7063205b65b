# SPDX-License-Identifier: Apache-2.0
"""How long a small stack takes while a huge one is created: ``python -m tests.perf.fairness``.

python -m tests.perf.fairness --database URL --transport URL [--size 100000] [--shape wide] [--small 5]

Chains of a few resources are created one after the other: first while nothing
else is there, then as soon as the request for the huge stack was answered, as
long as that one is in progress.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from tests.perf import report
from tests.perf.bench import Bench
from tests.perf.deployment import Measured
from tests.perf.machine import facts
from tests.perf.shapes import SHAPES, Member


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="wide", help="of the huge stack")
    parser.add_argument("--small", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Measured(
            Path(directory),
            database_url=arguments.database,
            transport_url=arguments.transport,
            engines=arguments.engines,
            workers=arguments.workers,
        ) as daemons,
    ):
        bench = Bench(daemons, arguments.database)
        small = SHAPES["chain"](arguments.small, Member(), "x").body
        bench.create("warm-up", small)
        alone = [bench.create(f"alone-{number}", small) for number in range(arguments.rounds)]
        began = time.monotonic()
        huge = bench.start("huge", SHAPES[arguments.shape](arguments.size, Member(), "x").body)
        accepted = time.monotonic() - began
        beside: list[float] = []
        while len(beside) < arguments.rounds:
            beside.append(bench.create(f"beside-{len(beside)}", small))
            if not bench.is_in_progress(huge):
                beside.pop()
                break
        report.say(
            {
                "size": arguments.size,
                "huge_accepted_seconds": round(accepted, 2),
                "alone_seconds": [round(seconds, 3) for seconds in alone],
                "beside_seconds": [round(seconds, 3) for seconds in beside],
                "times": round(statistics.median(beside) / statistics.median(alone), 1) if beside else None,
            }
        )
        bench.close()


if __name__ == "__main__":
    main()
