# SPDX-License-Identifier: Apache-2.0
"""etc/heatconv/policy.yaml.sample is what oslopolicy-sample-generator makes of heatconv/api/policies."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.functional.servers.processes import program

TOP = Path(__file__).parents[3]


def test_the_sample_file_shows_every_rule_as_it_is(tmp_path):
    made = tmp_path / "policy.yaml.sample"
    command = [program("oslopolicy-sample-generator"), "--namespace", "heatconv"]

    subprocess.run([*command, "--output-file", str(made)], cwd=TOP, check=True)

    sample = TOP / "etc/heatconv/policy.yaml.sample"
    assert made.read_text() == sample.read_text(), "run `tox -e genpolicy` and commit what it writes"
