# SPDX-License-Identifier: Apache-2.0
"""What a worker can find to do for a node, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heatconv.model.definition import Definition
from heatconv.model.records import Attempt


@dataclass(frozen=True)
class Start:
    """Begin an action on the resource: create it, or delete it."""

    attempt: Attempt


@dataclass(frozen=True)
class Resume:
    """Go on with an action that another worker began, or with what a newer wish would make of it."""

    attempt: Attempt
    newer: Attempt | None = None


@dataclass(frozen=True)
class Compare:
    """Ask the plugin how to get from the applied definition to the wanted one."""

    wanted: Definition  #: resolved
    requires: Mapping[str, int]


@dataclass(frozen=True)
class Unchanged:
    """The resource is as wanted already; only what it was converged with is recorded."""

    wanted: Definition  #: resolved
    requires: Mapping[str, int]


@dataclass(frozen=True)
class Replace:
    """Make another row of what is wanted; the one there cannot become it."""

    attempt: Attempt


@dataclass(frozen=True)
class Remove:
    """Drop a row that stands for nothing real."""


@dataclass(frozen=True)
class Skip:
    """Pass the node by: nothing to do, nothing to record of the resource."""


@dataclass(frozen=True)
class Fail:
    """The resource cannot be converged; the sentence says why."""

    reason: str


Step = Start | Resume | Compare | Unchanged | Replace | Remove | Skip | Fail
