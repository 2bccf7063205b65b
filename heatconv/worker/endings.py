# SPDX-License-Identifier: Apache-2.0
"""What comes of taking a step: it has ended, waits for something, or is not this worker's any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heatconv.model.endings import Ended
from heatconv.model.records import Attempt, Job
from heatconv.resources.driver import PluginDriver


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The action goes on in the real world; look again after ``delay`` seconds.

    Without a ``driver`` the action has to be taken up again from its row; or, if
    it ``replaces`` the row's resource, that still has to hand over.
    """

    job: Job
    attempt: Attempt
    driver: PluginDriver | None
    token: Any
    delay: float
    polls: int = 0
    replaces: bool = False


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The lock was broken, or the traversal superseded before anything was begun.

    ``orphan`` drives a plugin whose physical id could not be recorded any more.
    """

    job: Job
    orphan: PluginDriver | None = None


Ending = Ended | Waiting | Lost
