# SPDX-License-Identifier: Apache-2.0
"""What it costs to count for Prometheus: ``python -m tests.perf.metered --database URL --transport URL``.

Runs of the same creation differ by more than counting costs.  So a stack of ``--size`` independent resources
is created by daemons that count, what they have counted is read at ``/metrics``, and each of that is taken
for a call that costs what such a call costs in this process, alone.  That is held against the CPU time that
the creation took.
"""

from __future__ import annotations

import argparse
import tempfile
import timeit
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import requests
from prometheus_client.parser import text_string_to_metric_families

from heatconv.metrics import declared, instruments
from tests.perf import report
from tests.perf.bench import Bench
from tests.perf.deployment import Measured
from tests.perf.machine import facts

CALLS = 100_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--size", type=int, default=3000)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    prices = _prices()
    report.say({"microseconds": {kind: round(1e6 * price, 2) for kind, price in prices.items()}})
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Measured(Path(directory), **servers, engines=1, workers=arguments.workers, metrics=True) as daemons,
    ):
        bench = Bench(daemons, arguments.database)
        for _ in bench.life("wide", 100):
            pass  # warms up
        before = _counted(daemons)
        created = next(bench.life("wide", arguments.size))
        counted = _counted(daemons) - before
        bench.close()
    report.say(created)
    seconds = sum(prices[kind] * number for kind, number in counted.items())
    report.say(
        {
            "counted": counted,
            "each_resource": round(sum(counted.values()) / arguments.size, 2),
            "cpu_seconds": round(seconds, 4),
            "percent": round(100 * seconds / created["cpu_seconds"], 2),
        }
    )


def _counted(daemons: Measured) -> Counter[str]:
    """Return how often all daemons have called an instrument, at the most: one call may count for several."""
    calls: Counter[str] = Counter()
    for name in daemons.processes:
        shown = requests.get(f"{daemons.monitoring_url(name)}/metrics", timeout=60).text
        for family in text_string_to_metric_families(shown):
            if family.name.startswith("heatconv_") and family.type in ("counter", "histogram"):
                ends = "_total" if family.type == "counter" else "_count"
                found = (each.value for each in family.samples if each.name.endswith(ends))
                calls[family.type] += int(sum(found))
    return calls


def _prices() -> Mapping[str, float]:
    """Return the seconds that a call of each kind takes, with labels, and with a look at the clock."""
    instruments.switch_on(declared.ALL)
    clock = timeit.timeit("monotonic()", "from time import monotonic", number=CALLS)
    count = timeit.timeit(lambda: declared.CHECKS.add(outcome="propagated"), number=CALLS)
    observe = timeit.timeit(lambda: declared.ACTION_SECONDS.observe(0.3, action="CREATE"), number=CALLS)
    return {"counter": count / CALLS, "histogram": (observe + 2 * clock) / CALLS}


if __name__ == "__main__":
    main()
