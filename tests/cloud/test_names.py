# SPDX-License-Identifier: Apache-2.0
"""The names that our documentation holds against ours are those of the Heat that is installed."""

from __future__ import annotations

import subprocess
import sys

from tools.compatibility import HEAT


def test_heats_names_are_those_of_the_heat_whose_plugins_run_here():
    command = [sys.executable, "-W", "ignore", str(HEAT.parents[3] / "tools/heat_surface.py")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == HEAT.read_text(), f"write it anew: {command[-1]} tells how"
