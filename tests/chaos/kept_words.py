# SPDX-License-Identifier: Apache-2.0
"""Random edits, planned and applied: what each plan said is held against what the cloud was asked."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.chaos.planned import Planned, Service
from tests.functional.plans.keeping import Keeping, listed, summary

EDITS = 20  #: of one stack


class KeptWords:
    """How a run goes: what was said, and what of it did not hold."""

    def __init__(self, service: Service, seed: int) -> None:
        self.said: Counter[str] = Counter()  #: statements, by how certain they were and what they said
        self.misses: list[str] = []
        self._counts: Counter[str] = Counter()  # what was done, by kind
        self._service, self._seed = service, seed

    @staticmethod
    def options(_directory: Path) -> Mapping[str, object]:
        """Return how the daemons are to run."""
        return {}

    def run(self, edits: int) -> Iterator[str]:
        """Make so many edits, and judge each; yield a line on each stack."""
        for number, first in enumerate(range(0, edits, EDITS)):
            planned = Planned(self._service, f"p{number:03}")
            try:
                self._change(planned, random.Random(f"{self._seed} {number}"), min(EDITS, edits - first))
            finally:
                planned.close()
            yield f"{planned.name}: {summary(self.said, self.misses)}"

    def summary(self) -> str:
        """Return the figures so far."""
        return f"{summary(self.said, self.misses)}; {listed(self._counts)}"

    def _change(self, planned: Planned, choice: random.Random, edits: int) -> None:
        keeping = Keeping(choice)
        planned.create(keeping.template)
        planned.rest()
        for _ in range(edits):
            if not keeping.edit(planned):
                break  # the next edit would be of a world that nobody knows
        self.misses += [f"{planned.name}: {miss}" for miss in keeping.misses]
        self.said += keeping.said
        self._counts += keeping.counts
        planned.delete()
