# SPDX-License-Identifier: Apache-2.0
"""Draw what a run of the benchmark printed, and write its tables for the documentation.

python -m tests.perf.bench ... --ceiling | tee results.jsonl
python -m tests.perf.plot results.jsonl doc/source/performance/
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.perf import report

Records = Sequence[report.Record]
Groups = dict[tuple[str, int, str], list[report.Record]]

SIZE = (7.5, 3.6)  #: inches
BAR = 0.38  #: of the room that a pair of bars has

# The same figures give the same file; text stays text.
mpl.rcParams.update({"svg.hashsalt": "heatconv", "svg.fonttype": "none", "axes.grid": True, "font.size": 9})


def _drawn(path: Path, title: str, unit: str) -> tuple[Figure, Axes, Path]:
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_ylabel(unit)
    axes.set_axisbelow(True)
    return figure, axes, path


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    # Lines that end in blanks are not welcome in a repository.
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines))


def _spread(rounds: Records, what: str) -> tuple[float, tuple[float, float]]:
    """Return the median of a figure, and how far below and above it the rounds were."""
    values = [record[what] for record in rounds]
    middle = report.median(rounds, what)
    return middle, (middle - min(values), max(values) - middle)


def _bars(axes: Axes, places: Sequence[float], groups: Sequence[Records], label: str) -> None:
    spreads = [_spread(rounds, "resources_per_second") for rounds in groups]
    errors = list(zip(*(error for _, error in spreads), strict=True))
    axes.bar(places, [middle for middle, _ in spreads], BAR, yerr=errors, label=label, capsize=3)


def throughput(found: Groups, directory: Path) -> None:
    """Draw how many resources of each shape are made and removed in a second, at the largest size."""
    figure, axes, path = _drawn(directory / "throughput.svg", "Create and delete", "resources/s")
    shapes = {shape: size for shape, size, operation in sorted(found) if operation == "create"}
    for offset, operation in ((-BAR / 2, "create"), (BAR / 2, "delete")):
        groups = [found[shape, size, operation] for shape, size in shapes.items()]
        _bars(axes, [place + offset for place in range(len(shapes))], groups, operation)
    axes.set_xticks(range(len(shapes)), [f"{shape} {size}" for shape, size in shapes.items()])
    axes.legend()
    _save(figure, path)


def ceiling(found: Groups, directory: Path) -> None:
    """Draw creation beside the bare ceiling."""
    bare = {(shape, size): rounds for (shape, size, name), rounds in found.items() if name == report.CEILING}
    ours = {key: found[*key, "create"] for key in bare if (*key, "create") in found}
    if not ours:
        return
    figure, axes, path = _drawn(directory / "ceiling.svg", "Create, and the bare ceiling", "resources/s")
    places = range(len(ours))
    _bars(axes, [place - BAR / 2 for place in places], list(ours.values()), "heatconv")
    _bars(axes, [place + BAR / 2 for place in places], [bare[key] for key in ours], "ceiling")
    axes.set_xticks(places, [f"{shape} {size}" for shape, size in ours])
    axes.legend()
    _save(figure, path)


def _over_size(axes: Axes, found: Groups, operation: str, what: str, **style: Any) -> None:
    """Draw a line for each shape: a figure of an operation over the size."""
    shapes = dict.fromkeys(shape for shape, _, name in found if name == operation)
    for number, shape in enumerate(shapes):
        points = sorted(
            (size, report.median(rounds, what))
            for (its, size, name), rounds in found.items()
            if (its, name) == (shape, operation)
        )
        sizes, values = zip(*points, strict=True)
        axes.plot(sizes, values, color=f"C{number}", marker="o", label=shape, **style)
    axes.set_xlabel("resources in the stack")
    axes.set_ylim(bottom=0)


def cost(found: Groups, directory: Path) -> None:
    """Draw the statements that a resource's creation takes."""
    figure, axes, path = _drawn(directory / "cost.svg", "Create", "statements for each resource")
    _over_size(axes, found, "create", "statements_each")
    axes.legend()
    _save(figure, path)


def change(found: Groups, directory: Path) -> None:
    """Draw how long a change of one resource takes."""
    figure, axes, path = _drawn(directory / "change.svg", "Change of one resource", "seconds")
    _over_size(axes, found, "change", "seconds")
    axes.legend()
    _save(figure, path)


def tables(records: Records, head: report.Record, path: Path) -> None:
    """Write what ran, and the tables, as reStructuredText to include."""
    facts, arguments = head["facts"], head["arguments"]
    loads = [record["load_before"] for record in records]
    ran = (
        f"Commit {facts['commit']}; {facts['cores']} cores ({facts['processor']}), {facts['memory_gib']} GiB;"
        f" Python {facts['python']}, {facts['database']}, RabbitMQ, all on one machine;"
        f" 1 API, {arguments['engines']} engine(s), {arguments['workers']} worker(s) of one process each;"
        f" members {_members(arguments)}; {arguments['rounds']} round(s); load average before the run"
        f" {facts['load'][0]}, before its operations {min(loads)} to {max(loads)}."
    )
    parts = [ran, report.table(records, report.rst)]
    if any(record["operation"] == report.CEILING for record in records):
        parts.append(report.ratios(records, report.rst))
    path.write_text("\n\n".join(parts) + "\n")


def _members(arguments: dict[str, Any]) -> str:
    return "OS::Heat::None" if arguments["member"] == "none" else "OS::Heat::TestResource"


def main() -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    head, *_ = arguments.results.read_text().splitlines()
    records = report.read(arguments.results)
    found = report.grouped(records)
    for draw in (throughput, ceiling, cost, change):
        draw(found, arguments.directory)
    tables(records, json.loads(head), arguments.directory / "measured.inc")


if __name__ == "__main__":
    main()
