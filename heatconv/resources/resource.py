# SPDX-License-Identifier: Apache-2.0
"""The base of every resource type, as the author of a plugin sees it."""

from __future__ import annotations

from heatconv.resources.exception import NoActionRequired, PollDelay, UpdateReplace
from heatconv.resources.handover import Handover

__all__ = ["NoActionRequired", "PollDelay", "Resource", "UpdateReplace"]


class Resource(Handover):
    """A resource type; a plugin overrides what is declared in ``core`` and the ``hooks``."""
