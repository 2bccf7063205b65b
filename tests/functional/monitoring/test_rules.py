# SPDX-License-Identifier: Apache-2.0
"""The alert rules, as Prometheus' own tool finds them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).parents[3]
RULES = TOP / "etc/prometheus/alerts.yaml"
CASES = Path(__file__).with_name("alerts_test.yaml")
DASHBOARD = TOP / "etc/grafana/heatconv.json"


@pytest.fixture(scope="module")
def promtool():
    """Return what runs promtool, which comes with Prometheus."""
    if shutil.which("promtool") is None:
        missing = "promtool is not installed: apt-get install prometheus"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)

    def run(*arguments):
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_rules_are_rules(promtool):
    promtool("check", "rules", "--lint=all", "--lint-fatal", str(RULES))


def test_each_fires_when_it_should_and_not_else(promtool):
    promtool("test", "rules", str(CASES))


def test_there_is_a_case_for_each_rule():
    rules = [
        rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]

    assert [name for name in rules if name not in CASES.read_text()] == []


def test_what_the_dashboard_asks_can_be_asked(promtool, tmp_path):
    asked = [
        target["expr"]
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel.get("targets", ())
    ]
    rules = [
        {"record": f"asked:{number}", "expr": re.sub(r"\$__rate_interval", "5m", expression)}
        for number, expression in enumerate(asked)
    ]
    path = tmp_path / "asked.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))

    promtool("check", "rules", str(path))
