# SPDX-License-Identifier: Apache-2.0
"""Which of eventlet a process has, by its executor."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ASKED = "import sys, heatconv.cmd.{program}; print('dns' in sys.modules, 'eventlet' in sys.modules)"


@pytest.mark.parametrize(
    ("program", "executor", "has_resolver"),
    [
        ("all", "threading", False),
        ("worker", "threading", False),
        ("worker", "eventlet", True),
    ],
)
def test_names_are_looked_up_by_eventlet_where_there_are_green_threads(program, executor, has_resolver):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASKED.format(program=program)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"HEATCONV_EXECUTOR": executor},
    )
    assert ran.stdout.split() == [str(has_resolver), "True"]
