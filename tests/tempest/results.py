# SPDX-License-Identifier: Apache-2.0
"""The results of tests, kept in files of JSON lines, and two such files beside each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.tempest.deselected import plain

ABSENT = "absent"  #: the outcome of a test that only the other file has


class End(NamedTuple):
    """How a test ended: by itself, listed or not."""

    outcome: str  #: ``passed``, ``failed`` or ``skipped``
    why: str


def add(file: Path, test: str, end: End) -> None:
    """Add the result of a test; the last one of a test counts."""
    with file.open("a") as lines:
        lines.write(json.dumps({"test": plain(test), **end._asdict()}) + "\n")


def read(file: Path) -> dict[str, End]:
    """Return how the tests ended, by name."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {each["test"]: End(each["outcome"], each["why"]) for each in lines}


def beside(ours: Mapping[str, End], theirs: Mapping[str, End]) -> Iterator[str]:
    """Yield the lines of a comparison: each test that ended otherwise, then the sums."""
    pairs = {
        test: (_outcome(ours, test), _outcome(theirs, test)) for test in sorted(ours.keys() | theirs.keys())
    }
    for test, pair in pairs.items():
        if pair[0] != pair[1]:
            yield f"{pair[0]:8} {pair[1]:8} {test}"
    for pair, count in sorted(Counter(pairs.values()).items()):
        yield f"{pair[0]:8} {pair[1]:8} {count}"


def _outcome(ends: Mapping[str, End], test: str) -> str:
    return ends[test].outcome if test in ends else ABSENT
