# SPDX-License-Identifier: Apache-2.0
"""The tests of the suites that need not pass, and why; ``deselected*.list`` list them by reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

LIST = Path(__file__).with_name("deselected.list")
CLOUD = Path(__file__).with_name("deselected-cloud.list")  #: where there is a cloud


class Verdict(NamedTuple):
    """What a test's end comes to."""

    outcome: str  #: ``passed``, ``failed`` or ``deselected``
    why: str


@dataclass(frozen=True)
class Deselected:
    """The tests, by name: without the ``[id-...]`` that tempest puts after it."""

    reasons: Mapping[str, str]
    file: str = LIST.name

    @classmethod
    def read(cls, file: Path = LIST) -> Self:
        """Read the list: a line ``[REASON]``, then the names of tests, a line each; ``#`` is a remark."""
        reasons: dict[str, str] = {}
        reason = ""
        for line in file.read_text().splitlines():
            if line.startswith("["):
                reason = line.strip("[]")
            elif line and not line.startswith("#"):
                assert reason, f"{file.name}: {line} has no reason"
                assert line not in reasons, f"{file.name}: {line} is there twice"
                reasons[line] = reason
        return cls(reasons, file.name)

    def verdict(self, test: str, outcome: str, why: str) -> Verdict:
        """Return what the end of a test comes to: one that is listed must not pass, any other has to."""
        if plain(test) in self.reasons:
            if outcome == "passed":
                return Verdict("failed", f"It passes: take it out of {self.file}.")
            return Verdict("deselected", self.reasons[plain(test)])
        if outcome == "skipped":
            return Verdict("failed", f"It skips itself, and {self.file} does not say why: {why}")
        return Verdict(outcome, why)

    def unknown(self, tests: Collection[str]) -> list[str]:
        """Return the listed names that no test has."""
        return sorted(set(self.reasons) - {plain(test) for test in tests})


def plain(test: str) -> str:
    """Return a test's name without the id that tempest puts after it; what its scenario is stays."""
    name, bracket, rest = test.partition("[")
    return name + rest.partition("]")[2] if bracket else name
