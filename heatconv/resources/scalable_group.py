# SPDX-License-Identifier: Apache-2.0
"""A group whose number of members policies change, within bounds and with pauses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from heatconv.model.states import Action, Status
from heatconv.resources import exception, rolling, scaled_group, scaling
from heatconv.resources.i18n import _
from heatconv.resources.resource import NoActionRequired
from heatconv.resources.scaled_group import MEMBERS


class ScalableGroup(scaled_group.ScaledGroup):
    """The base of groups that take a policy's signals; a subclass names the properties.

    Which members are wanted is written by the worker that makes or changes the group
    and by the engines that take signals, each on top of the other.  Whoever
    has written there lets the nested stack follow; if an engine dies before
    it has, another one does (``db.wishes``).
    """

    MIN_SIZE: ClassVar[str]
    MAX_SIZE: ClassVar[str]
    DESIRED_CAPACITY: ClassVar[str]
    COOLDOWN: ClassVar[str]

    def check_sizes(self) -> None:
        """Check the bounds, and the number of members between them.

        Raises:
            StackValidationFailed: one contradicts another.
        """
        lower, upper = self._bounds
        desired = self.properties[self.DESIRED_CAPACITY]
        if upper < lower:
            self.refuse(self.MIN_SIZE, _("It must not be greater than %s.") % self.MAX_SIZE)
        if desired is not None and not lower <= desired <= upper:
            between = {"least": self.MIN_SIZE, "most": self.MAX_SIZE}
            self.refuse(self.DESIRED_CAPACITY, _("It has to be between %(least)s and %(most)s.") % between)

    def refuse(self, name: str, message: str) -> NoReturn:
        """Refuse the value of a property."""
        raise exception.StackValidationFailed(
            path=["resources", self.name, "properties", name], message=message
        )

    @property
    def _bounds(self) -> tuple[int, int]:
        return self.properties[self.MIN_SIZE], self.properties[self.MAX_SIZE]

    # -- how many -----------------------------------------------------------------------------

    def decide(self, changed: Mapping[str, Any] | None) -> None:
        metadata, desired = self.metadata_get(refresh=True), self.properties[self.DESIRED_CAPACITY]
        names = metadata[MEMBERS] if MEMBERS in metadata else list(self.members())
        decided = scaling.decision(self._hiding().without(dict(self.definition.properties)))
        # Whoever goes on with what another began finds it decided: a signal may have come since.
        anew = changed != {} and metadata.get(scaling.DECIDED) != decided
        size = desired if desired is not None and anew else len(names)
        size = scaling.new_capacity(len(names), size, scaling.EXACT_CAPACITY, None, self._bounds)
        written: dict[str, Any] = {scaling.DECIDED: decided} if anew else {}
        if MEMBERS not in metadata or size != len(names):
            said = f"{scaling.EXACT_CAPACITY} : {size}"
            written |= scaling.cooldown(self.properties[self.COOLDOWN], said)
            written[MEMBERS] = self.resized(names, size)
        if written:
            self.metadata_set(metadata | written)

    # -- what policies do -----------------------------------------------------------------------

    def adjust(
        self, adjustment: float, adjustment_type: str, min_step: int | None, cooldown: float | None
    ) -> tuple[int, int]:
        """Want more or fewer members; return how many there were and are to be.

        Raises:
            NoActionRequired: it is as many, or it is too early.
            RequestLimitExceeded: there must not be so many resources in the tree of stacks.
            StaleWrite: somebody else wanted others meanwhile.
        """
        metadata = self.metadata_get()
        names = metadata.get(MEMBERS)
        if names is None or self.action is Action.DELETE:
            raise NoActionRequired(res_name=self.name, reason=_("it is not there"))
        size = scaling.new_capacity(len(names), adjustment, adjustment_type, min_step, self._bounds)
        if size == len(names):
            raise NoActionRequired(res_name=self.name, reason=_("it has so many members"))
        if scaling.cools_down(metadata):
            raise NoActionRequired(res_name=self.name, reason=_("it was scaled a short time ago"))
        child = self.nested()
        if size > len(names) and child is not None:
            self.nested_stacks.check_tree_quota(child.id, size)
        seconds = self.properties[self.COOLDOWN] if cooldown is None else cooldown
        written = scaling.cooldown(seconds, f"{adjustment_type} : {adjustment}")
        self.metadata_set(metadata | written | {MEMBERS: self.resized(names, size)})
        return len(names), size

    def follow(self) -> None:
        """Let the nested stack have the members that are wanted, if it does not already.

        While a worker changes them, in its own time, those there are stay as they are.
        """
        if self.action is Action.DELETE or self.nested() is None:
            return
        names, members = self.member_names(), self.members()
        busy = self.status is Status.IN_PROGRESS
        outdated = not busy and bool(self._outdated(members))
        lacks = not members.keys() >= set(names)
        if lacks or outdated or (not busy and members.keys() != set(names)):
            roll = rolling.at_once()
            if busy:
                roll |= {"later": [list(members)], "spare": [name for name in members if name not in names]}
            self._apply(roll)
            self.clear_stored_attributes()
