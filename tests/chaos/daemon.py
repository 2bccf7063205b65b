# SPDX-License-Identifier: Apache-2.0
"""A daemon of heatconv's on a bus with faults: ``python -m tests.chaos.daemon worker --config-file F``.

The file that ``HEATCONV_CHAOS_FAULTS`` names says which faults there are now;
it is read for every message.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import random
import sys
from pathlib import Path

VARIABLE = "HEATCONV_CHAOS_FAULTS"
#: Seconds until the turns of an observer that died are others': here they die all the time.  One that
#: is only paused can come back to turns that it has lost.
LEASE = 4.0


def main() -> None:
    kind = sys.argv.pop(1)
    # The daemon's own module may have to patch the interpreter: it comes before everything else.
    daemon = importlib.import_module(f"heatconv.cmd.{kind}")
    faults = importlib.import_module("heatconv.testing.faults")

    def now() -> object:
        return faults.Faults(**json.loads(Path(os.environ[VARIABLE]).read_text()))

    vars(importlib.import_module("heatconv.observer.observer"))["LEASE"] = LEASE
    vars(daemon)["Bus"] = functools.partial(faults.FaultyBus, faults=now, choice=random.Random(kind))
    daemon.main()


if __name__ == "__main__":
    main()
