# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::AutoScalingGroup: members whose number policies change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heatconv.model.states import Action, Status
from heatconv.resources import (
    attributes,
    constraints,
    exception,
    group,
    group_attributes,
    properties,
    rolling,
    scaled_group,
    scaling,
    support,
)
from heatconv.resources.group_attributes import MEMBER, Of, Path
from heatconv.resources.i18n import _
from heatconv.resources.resource import NoActionRequired
from heatconv.resources.rolling import Pace
from heatconv.resources.scaled_group import MEMBERS

_schema = properties.Schema
_attribute = attributes.Schema

_PARTS = ("type", "properties", "metadata", "deletion_policy", "update_policy")


class AutoScalingResourceGroup(scaled_group.ScaledGroup):
    """Members whose number policies change.

    Which are wanted is written by the worker that makes or changes the group
    and by the engines that take signals, each on top of the other.  Whoever
    has written there lets the nested stack follow; if an engine dies before
    it has, another one does (``db.wishes``).
    """

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (RESOURCE, MAX_SIZE, MIN_SIZE, COOLDOWN, DESIRED_CAPACITY, ROLLING_UPDATES) = (
        "resource",
        "max_size",
        "min_size",
        "cooldown",
        "desired_capacity",
        "rolling_updates",
    )
    MIN_IN_SERVICE, MAX_BATCH_SIZE, PAUSE_TIME = ("min_in_service", "max_batch_size", "pause_time")

    ATTRIBUTES = (OUTPUTS, OUTPUTS_LIST, CURRENT_SIZE, REFS, REFS_MAP) = (
        "outputs",
        "outputs_list",
        "current_size",
        "refs",
        "refs_map",
    )

    properties_schema = {
        RESOURCE: _schema(
            _schema.MAP,
            _("What a member is, as a template has it in its section for resources."),
            required=True,
            update_allowed=True,
        ),
        MAX_SIZE: _schema(
            _schema.INTEGER,
            _("The most members there may be."),
            required=True,
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
        MIN_SIZE: _schema(
            _schema.INTEGER,
            _("The fewest members there may be."),
            required=True,
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
        COOLDOWN: _schema(
            _schema.INTEGER,
            _("The seconds after a scaling in which there is no other."),
            update_allowed=True,
        ),
        DESIRED_CAPACITY: _schema(
            _schema.INTEGER,
            _("How many members there are at first, and again when a property changes."),
            update_allowed=True,
        ),
        ROLLING_UPDATES: _schema(
            _schema.MAP,
            _("How members are changed in batches."),
            schema={
                MIN_IN_SERVICE: _schema(
                    _schema.INTEGER,
                    _("How many members are to be in service meanwhile; some may be made just for that."),
                    default=0,
                    constraints=[constraints.Range(min=0)],
                ),
                MAX_BATCH_SIZE: _schema(
                    _schema.INTEGER,
                    _("How many members are worked on at once."),
                    default=1,
                    constraints=[constraints.Range(min=1)],
                ),
                PAUSE_TIME: _schema(
                    _schema.NUMBER,
                    _("The seconds to pause between two batches."),
                    default=0,
                    constraints=[constraints.Range(min=0)],
                ),
            },
            default={MIN_IN_SERVICE: 0, MAX_BATCH_SIZE: 1, PAUSE_TIME: 0},
            update_allowed=True,
        ),
    }

    attributes_schema = {
        OUTPUTS: _attribute(
            _("The attribute of each member that the path behind this names, by the member's name."),
            support_status=support.SupportStatus(version="2014.2"),
            type=_attribute.MAP,
        ),
        OUTPUTS_LIST: _attribute(
            _("The attribute of each member that the path behind this names, in their order."),
            support_status=support.SupportStatus(version="2014.2"),
            type=_attribute.LIST,
        ),
        CURRENT_SIZE: _attribute(
            _("The number of members."),
            support_status=support.SupportStatus(version="2015.1"),
            type=_attribute.INTEGER,
        ),
        REFS: _attribute(
            _("What refers to each member, in their order."),
            support_status=support.SupportStatus(version="7.0.0"),
            type=_attribute.LIST,
        ),
        REFS_MAP: _attribute(
            _("What refers to each member, by name."),
            support_status=support.SupportStatus(version="7.0.0"),
            type=_attribute.MAP,
        ),
    }

    def validate(self) -> Any:
        super().validate()
        lower, upper = self._bounds
        desired = self.properties[self.DESIRED_CAPACITY]
        if upper < lower:
            self._refuse(self.MIN_SIZE, _("It must not be greater than max_size."))
        if desired is not None and not lower <= desired <= upper:
            self._refuse(self.DESIRED_CAPACITY, _("It has to be between min_size and max_size."))
        if not isinstance(self.properties[self.RESOURCE].get("type"), str):
            self._refuse(self.RESOURCE, _("It has to name a resource type."))

    def _refuse(self, name: str, message: str) -> None:
        raise exception.StackValidationFailed(
            path=["resources", self.name, "properties", name], message=message
        )

    @property
    def _bounds(self) -> tuple[int, int]:
        return self.properties[self.MIN_SIZE], self.properties[self.MAX_SIZE]

    def get_reference_id(self) -> str:
        return self.physical_resource_name_or_FnGetRefId()

    @classmethod
    def types_made(cls, properties: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        return group.type_in(properties, cls.RESOURCE, "member")

    @classmethod
    def size_made(cls, properties: Mapping[str, Any]) -> int:
        return group.number_in(properties, cls.DESIRED_CAPACITY, cls.MIN_SIZE)

    # -- the members ------------------------------------------------------------------------

    def member(self, name: str) -> group.Snippet:
        wanted = self.properties[self.RESOURCE]
        return {part: wanted[part] for part in _PARTS if wanted.get(part) is not None}

    def updating(self) -> Pace | None:
        return group.pace_of(self.properties[self.ROLLING_UPDATES])

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
            self.nested_stacks.check_room(child.id, size)
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

    # -- what it tells ------------------------------------------------------------------------

    def told(self, names: Sequence[str], attribute: str, path: Path, of: Of) -> Any:
        if attribute.startswith(MEMBER):
            which = attribute.removeprefix(MEMBER).partition(".")[0]
            found = names[int(which)] if which.isdecimal() and int(which) < len(names) else None
            return group_attributes.one_of(found, attribute, path, of)
        match attribute:
            case self.CURRENT_SIZE:
                return len(names)
            case self.OUTPUTS:
                return group_attributes.map_of(names, path, of)
            case self.OUTPUTS_LIST:
                return group_attributes.list_of(names, path, of)
            case self.REFS | self.REFS_MAP:
                return group_attributes.usual(names, attribute, path, of)
            case _:
                raise exception.InvalidTemplateAttribute(resource=self.name, key=attribute)

    @classmethod
    def may_have(cls, attribute: str) -> bool:
        """Tell whether a reference to an attribute can be right."""
        return attribute.startswith(MEMBER) or attribute in {
            **cls.attributes_schema,
            **cls.base_attributes_schema,
        }
