# SPDX-License-Identifier: Apache-2.0
"""Tables of what was measured: medians of the rounds, in Markdown or in reStructuredText."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]
Rows = Sequence[Sequence[str]]
Format = Callable[[Rows], str]

CEILING = "ceiling"  #: what the operation of the bare loop is called

_HEADINGS = (
    "shape",
    "size",
    "operation",
    "seconds",
    "from - to",
    "resources/s",
    "statements",
    "commits",
    "messages",
    "CPU ms",
    "peak MiB",
)


def say(record: Record) -> None:
    """Print a line of JSON."""
    print(json.dumps(record), flush=True)


def given(arguments: argparse.Namespace) -> Record:
    """Return what a program was given, less the servers, whose URLs may have passwords."""
    return {name: value for name, value in vars(arguments).items() if name not in ("database", "transport")}


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records among the lines of a run's output."""
    lines = (json.loads(line) for line in path.read_text().splitlines() if line.startswith("{"))
    return [line for line in lines if "operation" in line]


def grouped(records: Iterable[Record]) -> dict[tuple[str, int, str], list[Record]]:
    """Return the rounds of each shape, size and operation, in the order they were first seen."""
    found: dict[tuple[str, int, str], list[Record]] = {}
    for record in records:
        found.setdefault((record["shape"], record["size"], record["operation"]), []).append(record)
    return found


def median(rounds: Iterable[Record], what: str) -> float:
    """Return the median of a figure."""
    return float(statistics.median(record[what] for record in rounds))


def markdown(rows: Rows) -> str:
    """Lay rows out as a Markdown table; the first has the headings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *rest = [" | ".join(map(str.ljust, row, widths)) for row in rows]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {line} |" for line in (head, rule, *rest))


def rst(rows: Rows) -> str:
    """Lay rows out as a table of reStructuredText; the first has the headings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    head, *rest = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([rule, head, rule, *rest, rule])


def table(records: Iterable[Record], form: Format = markdown) -> str:
    """Return a table of operations: what was sent and worked is of each resource concerned, or in all."""
    return form([_HEADINGS, *(_row(*key, rounds) for key, rounds in grouped(records).items())])


def _row(shape: str, size: int, operation: str, rounds: Sequence[Record]) -> Sequence[str]:
    seconds = [record["seconds"] for record in rounds]
    each = [median(rounds, f"{what}_each") for what in ("statements", "commits", "messages")]
    return (
        shape,
        str(size),
        operation,
        f"{statistics.median(seconds):.2f}",
        f"{min(seconds):.2f} - {max(seconds):.2f}",
        f"{median(rounds, 'resources_per_second'):.1f}" if rounds[0]["concerned"] > 1 else "",
        *(f"{figure:.2f}" for figure in each),
        f"{1000 * median(rounds, 'cpu_seconds_each'):.1f}",
        _peaks(rounds),
    )


def _peaks(rounds: Sequence[Record]) -> str:
    """Return the most memory that any daemon of a kind had."""
    kinds: dict[str, float] = {}
    for record in rounds:
        for name, peak in record["peak_mib"].items():
            kind = name.partition("-")[0]
            kinds[kind] = max(kinds.get(kind, 0), peak)
    return " ".join(f"{kind} {peak:.0f}" for kind, peak in sorted(kinds.items()))


def ratios(records: Iterable[Record], form: Format = markdown) -> str:
    """Return a table that holds creation against the ceiling, round by round."""
    headings = ("shape", "size", "ours/s", "ceiling/s", "ours/ceiling", "from - to", "without preparing")
    return form([headings, *_ratio_rows(grouped(records))])


def _ratio_rows(found: Mapping[tuple[str, int, str], Sequence[Record]]) -> Iterable[Sequence[str]]:
    for (shape, size, operation), bare in found.items():
        if operation != CEILING:
            continue
        ours = found[shape, size, "create"]
        each = [
            mine["resources_per_second"] / its["resources_per_second"]
            for mine, its in zip(ours, bare, strict=True)
        ]
        converging = [
            mine["concerned"] / (mine["seconds"] - mine["accepted_seconds"]) / its["resources_per_second"]
            for mine, its in zip(ours, bare, strict=True)
        ]
        yield (
            shape,
            str(size),
            f"{median(ours, 'resources_per_second'):.1f}",
            f"{median(bare, 'resources_per_second'):.1f}",
            f"{statistics.median(each):.2f}",
            f"{min(each):.2f} - {max(each):.2f}",
            f"{statistics.median(converging):.2f}",
        )
