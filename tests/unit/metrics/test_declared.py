# SPDX-License-Identifier: Apache-2.0
"""What is declared keeps Prometheus' conventions, and what names a metric names one that is declared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from heatconv.metrics import (
    declared,
)

TOP = Path(__file__).parents[3]
DASHBOARD = TOP / "etc/grafana/heatconv.json"
NAMING = [
    TOP / "etc/prometheus/alerts.yaml",
    DASHBOARD,
    TOP / "tests/functional/monitoring/alerts_test.yaml",
    TOP / "doc/source/howto/operate.rst",
]
METRICS = {each.name: each for each in declared.ALL}

#: Words by which a stack, a project or a user could get into a label.
USERS = {"stack", "name", "id", "project", "user", "resource", "reason", "url", "tree"}

#: Names in texts that are of something else.
OTHERS = {"heatconv_surface"}


def series(metric):
    """Return the names of the series of a metric."""
    if metric.kind == "histogram":
        return {f"{metric.name}_{part}" for part in ("bucket", "sum", "count")}
    return {metric.name}


@pytest.mark.parametrize("name", METRICS)
def test_a_name_has_the_prefix_and_the_unit_of_prometheus_conventions(name):
    metric = METRICS[name]

    assert re.fullmatch(r"heatconv(_[a-z]+)+", name)
    assert name.endswith("_total") == (metric.kind == "counter")
    if metric.kind == "histogram":
        assert name.endswith(("_seconds", "_size"))
    assert metric.meaning.endswith(".")


@pytest.mark.parametrize("name", METRICS)
def test_no_label_is_a_user_s(name):
    assert not USERS & set(METRICS[name].labels)


def test_no_two_have_the_same_name():
    assert len(METRICS) == len(declared.ALL)


@pytest.mark.parametrize("path", NAMING, ids=lambda path: path.name)
def test_what_dashboard_rules_and_howto_name_is_declared(path):
    known = {each for metric in METRICS.values() for each in series(metric)}
    named = set(re.findall(r"\bheatconv_[a-z_]+", path.read_text())) - OTHERS

    assert named
    assert named <= known


def test_the_dashboard_shows_every_metric():
    named = set(re.findall(r"\bheatconv_[a-z_]+", DASHBOARD.read_text()))

    assert [name for name, metric in METRICS.items() if not series(metric) & named] == []


def test_the_dashboard_is_one_that_grafana_reads():
    dashboard = json.loads(DASHBOARD.read_text())

    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert all(target["expr"] for panel in panels for target in panel["targets"])
