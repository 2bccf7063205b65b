# SPDX-License-Identifier: Apache-2.0
"""heatconv's daemons, as a benchmark runs them: by the product's own clocks, and watched."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.functional.servers.daemons import Daemons, Options
from tests.functional.servers.processes import Process
from tests.perf.counted import VARIABLE
from tests.perf.measuring import Watch

ROOT = Path(__file__).parents[2]

#: Room for stacks of any size; all else is as it comes.
OPTIONS: Options = {
    "DEFAULT": {
        "max_template_size": 1 << 28,
        "max_resources_per_stack": -1,
        "rpc_response_timeout": 1800,
    },
    "api": {"max_json_body_size": 1 << 28},
}


class Measured(Daemons):
    """One API, some engines and some workers."""

    def __init__(
        self,
        directory: Path,
        *,
        database_url: str,
        transport_url: str,
        engines: int,
        workers: int,
        threads: int | None = None,
        executor: str = "threading",
        metrics: bool = False,
    ) -> None:
        """Start them.

        ``threads``: how many checks each worker runs at a time, if not as many as usual; ``metrics``: they
        count for Prometheus, whom nobody plays here.
        """
        self.watch = Watch()
        options = {**OPTIONS, "DEFAULT": {**OPTIONS["DEFAULT"], "executor": executor}}
        super().__init__(
            directory,
            database_url=database_url,
            transport_url=transport_url,
            engines=engines,
            workers=workers,
            pace={},
            options=options if threads is None else {**options, "worker": {"threads": threads}},
            watched=metrics,
        )

    def _run(self, name: str, command: list[str]) -> Process:
        tally = self.directory / f"{name}.tally"
        kind = name.partition("-")[0]
        counted = [sys.executable, "-m", "tests.perf.counted", kind, *command[1:]]
        environment = {**self.environment(name), "PYTHONPATH": str(ROOT), VARIABLE: str(tally)}
        process = Process(counted, self.directory / f"{name}.log", environment)
        if name != "manage":  # which makes the schema, and is gone before anything is measured
            self.watch.add(name, process.pid, tally)
        return process
