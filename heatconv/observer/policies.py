# SPDX-License-Identifier: Apache-2.0
"""What is done about a root stack: what its policy says, or else what the operator says of all."""

from __future__ import annotations

from dataclasses import dataclass

from heatconv.model.drift import Mode, Policy
from heatconv.model.records import Stack


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What holds for stacks whose policy does not say."""

    mode: Mode = Mode.OFF
    interval: float = 300.0  #: seconds between two looks
    portion: int = 500  #: resources of one stack that are looked at in one turn

    def mode_of(self, root: Stack) -> Mode:
        """Return what is done about a root stack."""
        return Policy.from_json(root.policy).mode or self.mode

    def interval_of(self, root: Stack) -> float:
        """Return the seconds between two looks at a root stack."""
        return Policy.from_json(root.policy).interval or self.interval


DEFAULTS = Defaults()
