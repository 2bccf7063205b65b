# SPDX-License-Identifier: Apache-2.0
"""A group: a resource whose nested stack is made of members that are alike."""

from __future__ import annotations

import functools
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from heatconv.model.bounds import check_text
from heatconv.model.definition import Definition, canonical, is_template
from heatconv.model.records import Member
from heatconv.resources import attributes, exception, group_attributes, rolling
from heatconv.resources.conversion import to_integer
from heatconv.resources.group_attributes import MEMBER, Of, Path, calls, output_name
from heatconv.resources.hiding import Hiding
from heatconv.resources.resource import PollDelay
from heatconv.resources.rolling import Pace, Roll
from heatconv.resources.rsrc_defn import ResourceDefinition
from heatconv.resources.stack_resource import StackResource

VERSION = "2015-04-30"  #: of the template; later ones have more functions to take a user's values for

Snippet = dict[str, Any]

LEAST_OF_A_CALL = 20  #: characters of a function that gets at a member: ``{"get_resource": "0"}``

_GIVEN = ("properties", "metadata", "update_policy")  #: the parts of a snippet that have values of a user's


class Group(StackResource):
    """The base of groups; a subclass names the members, says what one is, and which attributes it has.

    What others refer to of the group becomes the outputs of its stack.  What
    changes comes in batches where the user wants that: each is an update of
    the nested stack, and the next one follows when that has ended.
    """

    # -- what a subclass says ---------------------------------------------------------------

    def member_names(self) -> list[str]:
        """Return the names of the members wanted, in their order."""
        raise NotImplementedError

    def member(self, name: str) -> Snippet:
        """Return the snippet of a member."""
        raise NotImplementedError

    def attribute_of_members(self, names: Sequence[str], attribute: str, path: Path, of: Of) -> Any:
        """Return an attribute of the group as made of its members'; None if there is no such thing."""
        return group_attributes.usual(names, attribute, path, of)

    def more_names(self, count: int) -> list[str]:
        """Return so many names that no member has, for those that stand in for others."""
        raise NotImplementedError

    def creating(self) -> Pace | None:
        """Return the pace at which members are made at first; None is all at once."""
        return None

    def updating(self) -> Pace | None:
        """Return the pace at which members are changed; None is all at once."""
        return None

    # -- the nested stack -------------------------------------------------------------------

    def members(self) -> dict[str, Member]:
        """Return the members that the nested stack wants by now, by name; those made first come first."""
        child = self.nested()
        return {} if child is None else {each.name: each for each in self.nested_stacks.members(child.id)}

    def child_template(self) -> dict[str, Any]:
        names = self.member_names()
        return self._template(names, self._snippets(names), self._hiding())

    def child_params(self) -> dict[str, str]:
        return self._hiding().values()

    def _snippets(self, names: Sequence[str]) -> dict[str, Snippet]:
        """Return the snippets of members, unless by the first of them they would be too much.

        Raises:
            RequestLimitExceeded: it would be too much.
        """
        if names:
            check_text(len(names) * len(canonical(self.member(names[0]))))
        return {name: self.member(name) for name in names}

    def _hiding(self, *definitions: Definition) -> Hiding:
        return Hiding([*self.secrets(), *(secret for each in definitions for secret in each.secrets)])

    def secrets(self) -> Collection[str]:
        """Return the texts in the members' snippets that must not be shown."""
        return self.definition.secrets

    def _template(
        self, names: Sequence[str], snippets: Mapping[str, Snippet], hiding: Hiding
    ) -> dict[str, Any]:
        """Return the template of some members, whose outputs are made of the members named."""
        outputs = {}
        least = 0  # characters of them all
        for attribute, path in self._referred():
            value = self.attribute_of_members(names, attribute, path, calls)
            if value is not None:
                outputs[output_name(attribute, path)] = {"value": value}
                least += LEAST_OF_A_CALL * (len(value) if isinstance(value, list | dict) else 1)
                check_text(least)
        return {
            "heat_template_version": VERSION,
            "parameters": hiding.schemas(),
            "resources": {
                name: {key: hiding.without(part) if key in _GIVEN else part for key, part in snippet.items()}
                for name, snippet in snippets.items()
            },
            "outputs": outputs,
        }

    def _source(
        self, child_template: Mapping[str, Any] | str, user_params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return the source of the nested stack, with its old files too while a member still needs one."""
        source = super()._source(child_template, user_params)
        types = {snippet["type"] for snippet in source["template"]["resources"].values()}
        child = self.nested()
        if child is not None and any(is_template(type_) and type_ not in source["files"] for type_ in types):
            source["files"] = {**self.nested_stacks.files(child.id), **source["files"]}
        return source

    def _referred(self) -> Iterator[tuple[str, Path]]:
        for attribute in sorted(self.referenced_attrs(), key=str):
            name, *path = (attribute,) if isinstance(attribute, str) else attribute
            yield str(name), tuple(path)

    # -- making and changing it ---------------------------------------------------------------

    def handle_create(self) -> Roll:
        self.decide(None)
        roll = rolling.plan(self.member_names(), (), (), self.creating(), self.more_names)
        self._apply(roll)
        return roll

    def handle_update(self, json_snippet: ResourceDefinition, tmpl_diff: Any, prop_diff: Any) -> Roll:
        inherits_more = json_snippet.definition.inherits != self.definition.inherits
        self.become(json_snippet.definition)
        self.decide(prop_diff)
        roll = self._roll(inherits_more=inherits_more)
        self._apply(roll)
        return roll

    def spares(self, before: Definition) -> Sequence[str]:
        """Return the members that an update makes just for as long as it takes.

        The group has become, and decided, what it is to be; ``before`` is what it was.
        """
        roll = self._roll(inherits_more=before.inherits != self.definition.inherits)
        members = self.members()
        return [name for name in roll["spare"] if name not in members]

    def _roll(self, *, inherits_more: bool) -> Roll:
        members = self.members()
        outdated = self._outdated(members)
        if inherits_more:
            outdated |= {
                name for name, each in members.items() if is_template(each.definition.implemented_by)
            }
        return rolling.plan(self.member_names(), list(members), outdated, self.updating(), self.more_names)

    def check_create_complete(self, token: Roll | None) -> bool:
        return self._go_on(rolling.at_once() if token is None else token)

    def check_update_complete(self, token: Roll | None) -> bool:
        return self._go_on(rolling.at_once() if token is None else token)

    def _go_on(self, roll: Roll) -> bool:
        """Tell whether the group is as wanted; begin what comes next.

        Raises:
            PollDelay: it is not yet.
            Error: it never will be.
        """
        self._rest(roll)
        while self._has_ended():
            if not rolling.is_over(roll):
                if roll["later"] and roll["pause"] and roll["until"] is None:
                    roll["until"] = time.time() + roll["pause"]
                    self._rest(roll)
                roll["until"] = None
                rolling.advance(roll)
            elif not self._is_to_be_mended(roll):
                return True
            self._apply(roll)
        return False

    @staticmethod
    def _rest(roll: Roll) -> None:
        left = roll["until"] - time.time() if roll["until"] is not None else 0
        if left > 0:
            raise PollDelay(left)

    def _is_to_be_mended(self, roll: Roll) -> bool:
        """Tell whether somebody else, a signal say, has changed the members meanwhile."""
        self.metadata_get(refresh=True)
        members = self.members()
        if members.keys() != set(self.member_names()):
            return True
        # Once: a template has two ways to say something that is the same to the nested stack.
        mended, roll["mended"] = roll.get("mended", False), True
        return not mended and bool(self._outdated(members))

    def _apply(self, roll: Roll) -> None:
        """Start to make the members what they are to be at this point of a roll."""
        self.metadata_get(refresh=True)
        members, later = self.members(), rolling.waiting(roll)
        names = [name for name in self.member_names() if name in members or name not in later]
        stay = later | set(roll["spare"])
        every = dict.fromkeys([*names, *roll["spare"]])
        made = self._snippets([name for name in every if name not in members or name not in stay])
        snippets = {name: made[name] if name in made else _as_it_is(members[name]) for name in every}
        hiding = self._hiding(*(member.definition for member in members.values()))
        self.update_with_template(self._template(names, snippets, hiding), hiding.values())

    def _outdated(self, members: Mapping[str, Member]) -> set[str]:
        """Name the members that are wanted otherwise than they are."""
        return {name for name in self.member_names() if name in members and self._differs(members[name])}

    def _differs(self, member: Member) -> bool:
        wanted, now = self.member(member.name), _as_it_is(member)
        return any(wanted.get(key, {}) != now[key] for key in ("type", "properties", "metadata"))

    # -- its attributes ------------------------------------------------------------------------

    def get_attribute(self, key: str, *path: str | int) -> Any:
        """Return an attribute of the members: the stack's output if there is one, else as they are now."""
        if key in self.base_attributes_schema:
            return super().get_attribute(key, *path)
        if self.resource_id is None:
            return None
        name = output_name(key, path)
        if name in self._outputs.values or name in self._outputs.errors:
            return self.get_output(name)
        now = functools.partial(self._now, self.members())
        return self.attribute_of_members(self.member_names(), key, path, now)

    def _resolve_attribute(self, name: str) -> Any:
        return self.get_attribute(name)

    def _now(self, members: Mapping[str, Member], name: str, attribute: str | None, path: Path) -> Any:
        if name not in members:
            raise exception.InvalidTemplateAttribute(resource=self.name, key=f"{MEMBER}{name}")
        if attribute is None:
            return members[name].reference_id
        return attributes.select_from_attribute(self._member(name, attribute), path)


def _as_it_is(member: Member) -> Snippet:
    now = member.definition
    return {
        "type": now.type,
        "properties": dict(now.properties),
        "metadata": dict(now.metadata),
        "deletion_policy": now.deletion_policy.value,
        "update_policy": dict(now.update_policy),
        "depends_on": list(now.depends_on),
    }


def number_in(properties: Mapping[str, Any], name: str, default: int = 0) -> int:
    """Return a property, or what it is if it is not given; 0 if that is no number that is known already."""
    given = properties.get(name)
    try:
        return max(to_integer(default if given is None else given, False), 0)
    except TypeError:
        return 0


def properties_in(properties: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what ``properties_made`` does where a property has the definition of a member."""
    definition = properties.get(name)
    given = definition.get("properties") if isinstance(definition, Mapping) else None
    return given if isinstance(given, Mapping) else {}


def type_in(properties: Mapping[str, Any], name: str, member: str) -> dict[str, tuple[str, str]]:
    """Return what ``types_made`` does where a property has the definition of a member."""
    definition = properties.get(name)
    type_ = definition.get("type") if isinstance(definition, Mapping) else None
    return {f"{name}.type": (member, type_)} if isinstance(type_, str) else {}


def pace_of(policy: Mapping[str, Any] | None) -> Pace | None:
    """Return the pace that a policy of a user's asks for, if there is one."""
    if policy is None:
        return None
    return Pace(
        batch=policy["max_batch_size"],
        pause=policy["pause_time"],
        in_service=policy.get("min_in_service", 0),
    )
