# SPDX-License-Identifier: Apache-2.0
"""Templates with stacks in them, and what the whole tree asks of reality.

::

    Template(
        N=nested(Template(P=thing(GIVEN)), value="n"),
        G=group(2, thing("m%index%"), depends_on=["N"]),
        S=scaled(1, thing("s")),
        P=policy("S", 1),
    )

``chain`` has members, too, one after another.  ``source`` makes of it what a user posts;
``differences`` compares it with all objects that a cloud holds for the stack and those nested in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heatconv.testing import templates
from heatconv.testing.templates import Attribute, Entry, Json, Template, Thing, Used, When

INDEX = "%index%"  #: in the value of a group's member: its name

_VALUE = "value"  #: the parameter of a nested template, and its output: the value of its first resource
#: The end of a nested stack's name: its owner's, and a suffix that makes it unique.
_OWNED = re.compile(r"-([^-]+)-[a-z2-7]{12}$")

Place = tuple[str, ...]  #: the names that lead from a stack to something in it or in those nested in it


@dataclass(frozen=True)
class Given:
    """The use of the value that a nested template is given."""

    def hot(self) -> Any:
        """Return the function it is."""
        return {"get_param": _VALUE}


GIVEN = Given()


@dataclass(frozen=True)
class Joined(Attribute):
    """The use of the values of a group's members, with commas between."""

    path: tuple[str, ...]

    def hot(self) -> Any:
        """Return the function it is."""
        return {"list_join": [",", {"get_attr": [self.resource, *self.path]}]}


def joined(name: str, *, scaled: bool = False) -> Joined:
    """Return the use of what the members of a group have for values."""
    return Joined(name, _VALUE, ("outputs_list", _VALUE) if scaled else (_VALUE,))


@dataclass(frozen=True)
class Nested:
    """A resource whose type is a template."""

    template: Template
    value: str | Used
    file: str
    depends_on: tuple[str, ...]
    policy: str | None = None

    def hot(self) -> Json:
        """Return the resource's snippet."""
        value = self.value if isinstance(self.value, str) else self.value.hot()
        snippet = _snippet(self.file, {_VALUE: value}, self.depends_on)
        return snippet | ({"deletion_policy": self.policy} if self.policy else {})

    def document(self) -> Json:
        """Return the template that the type is."""
        attribute = {"get_attr": [next(iter(self.template)), _VALUE]} if self.template else ""
        return {
            **self.template.hot(),
            "parameters": {_VALUE: {"type": "string"}},
            "outputs": {_VALUE: {"value": attribute}},
        }


def nested(
    template: Template,
    value: str | Used = "",
    *,
    file: str = "nested.yaml",
    depends_on: Sequence[str] = (),
    policy: str | None = None,
) -> Nested:
    """Return a stack of a template, which is given a value.

    ``file``: the name of the type, one for each template of a tree; another one replaces the stack.
    ``policy``: its deletion policy.
    """
    return Nested(template, value, file, tuple(depends_on), policy)


@dataclass(frozen=True)
class Passed:
    """A resource that stands for nothing outside, and gives on the value that it is given."""

    value: str | Used

    def hot(self) -> Json:
        """Return the resource's snippet."""
        value = self.value if isinstance(self.value, str) else self.value.hot()
        return _snippet("OS::Heat::Value", {_VALUE: value}, ())


@dataclass(frozen=True)
class Pace:
    """How many members are changed at once, and how many are in service meanwhile."""

    batch: int
    in_service: int

    def hot(self) -> Json:
        """Return what a policy says."""
        return {"max_batch_size": self.batch, "min_in_service": self.in_service}


@dataclass(frozen=True)
class Group:
    """Members that are alike; what each is given is a string."""

    count: int
    member: Thing | Nested
    scaled: bool  #: whether signals change the number; then names are made up
    depends_on: tuple[str, ...]
    pace: Pace | None = None

    def hot(self) -> Json:
        """Return the resource's snippet."""
        member = self.member.hot()
        pace = None if self.pace is None else self.pace.hot()
        if self.scaled:
            scaling = {"min_size": 0, "max_size": 9, "desired_capacity": self.count, "resource": member}
            scaling |= {"rolling_updates": pace} if pace else {}
            return _snippet("OS::Heat::AutoScalingGroup", scaling, self.depends_on)
        made = {"count": self.count, "resource_def": member}
        snippet = _snippet("OS::Heat::ResourceGroup", made, self.depends_on)
        return snippet | ({"update_policy": {"rolling_update": pace}} if pace else {})

    def members(self) -> Template:
        """Return the template of the nested stack."""
        return Template(**{str(number): self._numbered(str(number)) for number in range(self.count)})

    def _numbered(self, name: str) -> Thing | Nested:
        value = self.member.value
        return replace(self.member, value=value.replace(INDEX, name) if isinstance(value, str) else value)


def group(count: int, member: Thing | Nested, *, depends_on: Sequence[str] = ()) -> Group:
    """Return so many members, whose names are their numbers."""
    return Group(count, member, scaled=False, depends_on=tuple(depends_on))


def scaled(count: int, member: Thing | Nested, *, depends_on: Sequence[str] = ()) -> Group:
    """Return so many members at first; signals to a ``policy`` change that."""
    return Group(count, member, scaled=True, depends_on=tuple(depends_on))


@dataclass(frozen=True)
class Chain(Group):
    """Members that are alike, each made after the one before it."""

    def hot(self) -> Json:
        """Return the resource's snippet."""
        member = self.member.hot()
        made = {"resources": [member["type"]] * self.count, "resource_properties": member["properties"]}
        return _snippet("OS::Heat::ResourceChain", made, self.depends_on)


def chain(count: int, member: Thing | Nested, *, depends_on: Sequence[str] = ()) -> Chain:
    """Return so many members, whose names are their numbers; another ``member`` replaces them all."""
    return Chain(count, member, scaled=False, depends_on=tuple(depends_on))


@dataclass(frozen=True)
class Policy:
    """What scales a group when it is signalled; nothing in the cloud."""

    group: str
    adjustment: int
    type: str

    def hot(self) -> Json:
        """Return the resource's snippet."""
        properties = {
            "auto_scaling_group_id": {"get_resource": self.group},
            "scaling_adjustment": self.adjustment,
            "adjustment_type": self.type,
        }
        return _snippet("OS::Heat::ScalingPolicy", properties, ())


def policy(group: str, adjustment: int, type: str = "change_in_capacity") -> Policy:
    """Return what changes the number of a ``scaled`` group's members."""
    return Policy(group, adjustment, type)


def _snippet(type_: str, properties: Json, depends_on: Sequence[str]) -> Json:
    return {"type": type_, "properties": properties} | (
        {"depends_on": list(depends_on)} if depends_on else {}
    )


# -- what is posted ------------------------------------------------------------------------------


def source(template: Template) -> Json:
    """Return what a user posts of a stack: its template, what that takes, and the files of those nested."""
    posted = {"template": template.hot(), "files": dict(_files(template))}
    given = {name: each.value for name, each in template.parameters.items()}
    return posted | ({"environment": {"parameters": given}} if given else {})


def _files(template: Template) -> Iterator[tuple[str, str]]:
    for each in template.values():
        entry = each.entry if isinstance(each, When) else each
        inside: Entry = entry.member if isinstance(entry, Group) else entry
        if isinstance(inside, Nested):
            yield inside.file, json.dumps(inside.document())
            yield from _files(inside.template)


def stacks(template: Template) -> int:
    """Return how many stacks are nested in one of a template, at whatever depth."""
    insides = [inside for entry in template.values() if (inside := _inside(entry)) is not None]
    return sum(1 + stacks(inside) for inside in insides)


def _inside(entry: object) -> Template | None:
    match entry:
        case Nested(template=inside):
            return inside
        case Group():
            return entry.members()
        case _:
            return None


# -- what is there ---------------------------------------------------------------------------------


def place_of(owner: str) -> tuple[str, Place]:
    """Return, by an object's owner, the name of the stack that all of the tree is in, and the way to it."""
    name, _, resource = owner.rpartition("/")
    place = [resource]
    while (nested_in := _OWNED.search(name)) is not None:
        name = name[: nested_in.start()]
        place.append(nested_in[1])
    return name, tuple(reversed(place))


def differences(template: Template, objects: Sequence[Json]) -> list[str]:
    """Return what is wrong with the objects of a stack and those nested in it, a sentence each."""
    return [*_differences(template, [(place_of(found["owner"])[1], found) for found in objects], "")]


def _differences(template: Template, objects: Sequence[tuple[Place, Json]], given: str) -> Iterator[str]:
    own = [found for place, found in objects if len(place) == 1]
    things = {
        name: replace(entry, value=_known(template, entry.value, given))
        for name, entry in template.items()
        if isinstance(entry, Thing)
    }
    yield from templates.differences(Template(**things), own)
    below: dict[str, list[tuple[Place, Json]]] = {
        name: [] for name, entry in template.items() if _inside(entry) is not None
    }
    for place, found in objects:
        if len(place) > 1:
            below.setdefault(place[0], []).append((place[1:], found))
    for name, found_below in below.items():
        entry = template.get(name)
        is_scaled = isinstance(entry, Group) and entry.scaled
        inner = _numbered(found_below) if is_scaled else found_below
        value = _value(template, entry.value, given) if isinstance(entry, Nested) else given
        for problem in _differences(_inside(entry) or Template(), inner, value):
            yield f"{name}/{problem}"


def _numbered(objects: Sequence[tuple[Place, Json]]) -> list[tuple[Place, Json]]:
    """Call the members of a group by numbers instead of the names they were given."""
    names = sorted({place[0] for place, _ in objects})
    numbers = {name: str(number) for number, name in enumerate(names)}
    return [
        ((numbers[first],), {**found, "owner": f"/{numbers[first]}"})
        if not rest
        else ((numbers[first], *rest), found)
        for (first, *rest), found in objects
    ]


def _known(template: Template, value: str | Used, given: str) -> str | Used:
    """Return a value with everything filled in but attributes of its own stack's objects."""
    is_own = isinstance(value, Attribute) and isinstance(template[value.resource], Thing)
    return value if is_own else _value(template, value, given)


def _value(template: Template, value: str | Used, given: str) -> str:
    """Return the text that a value comes to, be it here or in a stack inside."""
    match value:
        case str():
            return value
        case Given():
            return given
        case Attribute(resource=name):
            return _output(template, template[name], given)
        case _:
            raise TypeError(value)


def _output(template: Template, entry: object, given: str) -> str:
    match entry:
        case Thing(value=value) | Passed(value=value):
            return _value(template, value, given)
        case Nested(template=inside, value=value):
            first = next(iter(inside.values()), "")
            return _output(inside, first, _value(template, value, given))
        case Group():
            members = entry.members()
            return ",".join(_output(members, member, given) for member in members.values())
        case _:
            return ""


def found_by(objects: Sequence[Json]) -> Mapping[str, list[Json]]:
    """Return objects by the name of the stack that all of their tree is in."""
    found: dict[str, list[Json]] = {}
    for each in objects:
        found.setdefault(place_of(each["owner"])[0], []).append(each)
    return found
