# SPDX-License-Identifier: Apache-2.0
"""A daemon of heatconv's whose work is counted: ``python -m tests.perf.counted worker --config-file F``.

The counts are in the file that ``HEATCONV_PERF_TALLY`` names.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

VARIABLE = "HEATCONV_PERF_TALLY"


def main() -> None:
    kind = sys.argv.pop(1)
    # The daemon's own module may have to patch the interpreter: it comes before everything else.
    daemon = importlib.import_module(f"heatconv.cmd.{kind}")
    sqlalchemy = importlib.import_module("sqlalchemy")
    counting = importlib.import_module("tests.perf.counting")
    tally = importlib.import_module("tests.perf.tally").SharedTally(Path(os.environ[VARIABLE]))
    counting.count_statements(sqlalchemy.Engine, tally)
    vars(daemon)["Bus"] = lambda conf, url=None: counting.CountingBus(conf, url, tally)
    daemon.main()


if __name__ == "__main__":
    main()
