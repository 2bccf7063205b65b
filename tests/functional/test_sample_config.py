# SPDX-License-Identifier: Apache-2.0
"""etc/heatconv/heatconv.conf.sample is what oslo-config-generator makes of heatconv/conf."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.functional.servers.processes import program

TOP = Path(__file__).parents[2]


def test_the_sample_file_shows_every_option_as_it_is(tmp_path):
    made = tmp_path / "heatconv.conf.sample"
    command = [program("oslo-config-generator"), "--config-file", "etc/heatconv/config-generator.conf"]

    subprocess.run([*command, "--output-file", str(made)], cwd=TOP, check=True)

    sample = TOP / "etc/heatconv/heatconv.conf.sample"
    assert made.read_text() == sample.read_text(), "run `tox -e genconfig` and commit what it writes"
