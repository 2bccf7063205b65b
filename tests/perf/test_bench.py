# SPDX-License-Identifier: Apache-2.0
"""The benchmark runs, says what it should, and the ceiling is that of what workers really do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.perf import report
from tests.perf.shapes import SHAPES, Member, more

SIZE = 24
SMALL, LARGE = 30, 90
OPERATIONS = {"create", "no-op", "change", "delete"}

#: How far apart the counts of a resource may be: daemons heartbeat in between.
APART = {"statements": 0.5, "commits": 0.2}


def run(module, *arguments):
    """Run a program as anybody runs it; return its output."""
    command = [sys.executable, "-m", f"tests.perf.{module}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def on(database_url, rabbit_url):
    return ["--database", database_url, "--transport", rabbit_url]


@pytest.fixture
def results(tmp_path):
    """Return a function that runs the benchmark and gives the file of its output."""

    def bench(*arguments):
        path = tmp_path / "results.jsonl"
        path.write_text(run("bench", *arguments, "--rounds", "1"))
        return path

    return bench


@pytest.mark.timeout(600)
def test_each_operation_of_each_shape_is_measured(results, on):
    records = report.read(results(*on, "--size", str(SIZE)))

    measured = {(record["shape"], record["operation"]) for record in records}
    assert measured == {(shape, name) for shape in SHAPES for name in OPERATIONS} | {("group", "scale")}
    for record in records:
        wish = SHAPES[record["shape"]](SIZE, Member(), "x")
        grown = SHAPES["group"](more(SIZE), Member(), "x").count
        concerned = {
            "create": wish.count,
            "no-op": 0,
            "change": wish.changed,
            "scale": grown - wish.count,
            "delete": grown if record["shape"] == "group" else wish.count,
        }
        assert record["concerned"] == concerned[record["operation"]]
        assert 0 < record["accepted_seconds"] <= record["seconds"]
        assert record["peak_mib"].keys() == {"api", "engine-1", "worker-1", "worker-2"}
        assert record["cpu_seconds_of"].keys() == record["peak_mib"].keys()
        # Each resource is locked, known by its id and finished.
        if record["operation"] == "create":
            assert record["statements"] >= 3 * wish.count
            assert record["messages"] > 0


@pytest.mark.timeout(600)
def test_workers_send_no_more_than_the_ceiling(results, on):
    """Those that share no transaction: the ceiling has its own, and a message, for each resource."""
    sizes = ["--size", f"{SMALL},{LARGE}", "--threads", "1"]
    found = report.grouped(report.read(results(*on, "--shape", "wide,layers", *sizes, "--ceiling")))

    for shape in ("wide", "layers"):
        for what in ("statements", "commits"):
            # What does not depend on the size, such as preparing, is not the ceiling's business.
            ours, bare = (
                sum(sign * found[shape, size, name][0][what] for sign, size in ((-1, SMALL), (1, LARGE)))
                / (LARGE - SMALL)
                for name in ("create", report.CEILING)
            )
            assert ours <= bare + APART[what], (shape, what)


@pytest.mark.parametrize("database_kind", ["sqlite"])
@pytest.mark.timeout(600)
def test_a_run_can_be_drawn_and_told(results, on, tmp_path):
    path = results(*on, "--shape", "wide", "--size", f"{SMALL},{LARGE}", "--ceiling")

    run("plot", str(path), str(tmp_path))

    assert {drawn.stem for drawn in tmp_path.glob("*.svg")} == {"throughput", "ceiling", "cost", "change"}
    assert all(drawn.read_text().startswith("<?xml") for drawn in tmp_path.glob("*.svg"))
    included = Path(tmp_path / "measured.inc").read_text()
    create = json.loads(next(line for line in path.read_text().splitlines() if '"create"' in line))
    assert f"{create['resources_per_second']:.1f}" in included


@pytest.mark.parametrize("database_kind", ["postgresql"])
@pytest.mark.timeout(600)
def test_resources_may_wait(results, on):
    path = results(*on, "--shape", "wide", "--size", "5", "--member", "test", "--wait-secs", "3")

    (create,) = report.grouped(report.read(path))["wide", 5, "create"]
    assert create["seconds"] > 3
    assert 0 < create["statements_by_clock"] < create["statements"]
