# SPDX-License-Identifier: Apache-2.0
"""A group whose members have random names, and of which the oldest go first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.model.bounds import check_members
from heatconv.model.states import Status
from heatconv.resources import group, scaling, short_id

MEMBERS = "members"  #: among the metadata: the names of the members wanted, those made first at the start


class ScaledGroup(group.Group):
    """The base of groups that are scaled: which members are wanted is written in the metadata."""

    def member_names(self) -> list[str]:
        return list(self.metadata_get().get(MEMBERS) or ())

    def more_names(self, count: int) -> list[str]:
        # In order, so that those made in one go have one.
        return sorted(short_id.generate_id() for _number in range(count))

    def resized(self, names: list[str], size: int) -> list[str]:
        """Return the names of so many members.

        Raises:
            RequestLimitExceeded: it is too many, whatever else there is.
        """
        check_members(size)
        if size >= len(names):
            return names + self.more_names(size - len(names))
        members = self.members()
        failed = {name for name, member in members.items() if member.status is Status.FAILED}
        stay = set(sorted(names, key=lambda name: name not in failed)[len(names) - size :])
        return [name for name in names if name in stay]

    # -- what it keeps ------------------------------------------------------------------------

    def metadata_update(self, new_metadata: Mapping[str, Any] | None = None) -> None:
        """Keep what signals have written: no template knows that."""
        own = (MEMBERS, scaling.DECIDED, scaling.COOLDOWN_END, scaling.IN_PROGRESS)
        kept = {key: value for key, value in self.metadata_get(refresh=True).items() if key in own}
        super().metadata_update({**(new_metadata or {}), **kept})

    def _recall(self, resource_data: Mapping[str, Any]) -> None:
        """Take over which members there were, be it that only their resources tell."""
        found = {MEMBERS: list(resource_data["resources"] or ()), **(resource_data.get("metadata") or {})}
        super()._recall({**resource_data, "metadata": found})
