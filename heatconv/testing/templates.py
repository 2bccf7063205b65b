# SPDX-License-Identifier: Apache-2.0
"""Templates of a scenario, as short as they can be written, and what they ask of reality.

::

    Template(A=thing(value="a"), B=thing(value=attr("A"), uses=["A"]))

``hot`` makes the HOT template of it; ``differences`` compares it with the
objects that a cloud holds.  The latter is the oracle of every scenario: it
looks at nothing but the cloud.  A template that takes parameters is compared
as ``parameters.as_given`` has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]

SERVER = "Fake::Cloud::Server"
STEPS = "Fake::Cloud::Steps"
OPAQUE = "Fake::Cloud::Opaque"
DISK = "Fake::Cloud::Disk"
UNFORESEEN = "Fake::Cloud::Unforeseen"
PORTED = "Fake::Cloud::Ported"
CANCELLED = "Fake::Cloud::Cancelled"
SNAPSHOT = "Fake::Cloud::Snapshot"  #: of no resource: the kind of what snapshots leave

#: What an object has beyond its template's properties, by resource type.
_EXTRAS: Mapping[str, Mapping[str, Any]] = {STEPS: {"stage": "started"}}


class Entry(Protocol):
    """What a template has under a name."""

    def hot(self) -> Json:
        """Return its snippet."""


class Used(Protocol):
    """A value that is known only where a template is applied."""

    def hot(self) -> Any:
        """Return the function it is."""


@dataclass(frozen=True)
class Attribute:
    """The use of another resource's attribute: ``id``, ``name`` or ``value``."""

    resource: str
    name: str

    def hot(self) -> Any:
        """Return the function it is."""
        return {"get_attr": [self.resource, self.name]}


def attr(resource: str, name: str = "value") -> Attribute:
    """Return the use of an attribute."""
    return Attribute(resource, name)


ON, OFF = "on", "off"


@dataclass(frozen=True)
class Parameter:
    """A value that a template is given; there is a condition of the same name, which holds when it is ON."""

    value: str
    hidden: bool = False


@dataclass(frozen=True)
class Param:
    """The use of a parameter."""

    name: str

    def hot(self) -> Any:
        """Return the function it is."""
        return {"get_param": self.name}


@dataclass(frozen=True)
class Chosen:
    """One value where a parameter is ON, and another one where it is not."""

    parameter: str
    when_on: str | Used
    when_off: str | Used

    def hot(self) -> Any:
        """Return the function it is."""
        return {"if": [self.parameter, _hot(self.when_on), _hot(self.when_off)]}


@dataclass(frozen=True)
class When:
    """An entry that is there where a parameter is ON."""

    parameter: str
    entry: Entry

    def hot(self) -> Json:
        """Return the snippet of the entry, with its condition."""
        return {**self.entry.hot(), "condition": self.parameter}


@dataclass(frozen=True)
class Thing:
    """A resource as a scenario wants it."""

    type: str
    value: str | Used
    flavor: str | Used
    uses: tuple[str, ...]
    depends_on: tuple[str, ...]
    wait: float | None
    policy: str | None = None

    def hot(self) -> Json:
        """Return the resource's snippet."""
        properties: Json = {"value": _hot(self.value), "flavor": _hot(self.flavor)}
        if self.uses:
            properties["uses"] = [{"get_resource": used} for used in self.uses]
        if self.wait is not None:
            properties["wait"] = self.wait
        snippet: Json = {"type": self.type, "properties": properties}
        if self.depends_on:
            snippet["depends_on"] = list(self.depends_on)
        if self.policy is not None:
            snippet["deletion_policy"] = self.policy
        return snippet


def thing(
    value: str | Used = "",
    *,
    flavor: str | Used = "small",
    uses: Sequence[str] = (),
    depends_on: Sequence[str] = (),
    wait: float | None = None,
    type: str = SERVER,
    policy: str | None = None,
) -> Thing:
    """Return a resource: another ``flavor`` replaces it, other values update it in place.

    ``wait``: the seconds (in process: looks) that each operation on it takes.
    ``policy``: its deletion policy.
    """
    return Thing(type, value, flavor, tuple(uses), tuple(depends_on), wait, policy)


def _hot(value: str | Used) -> Any:
    return value if isinstance(value, str) else value.hot()


class Template(Mapping[str, Entry]):
    """Resources by name: things, and what ``trees`` has beside them; and the parameters that it is given."""

    def __init__(self, **things: Entry) -> None:
        self._things = things
        self.parameters: Mapping[str, Parameter] = {}

    def __getitem__(self, name: str) -> Entry:
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def but(self, **things: Entry) -> Template:
        """Return the same template with some resources changed or added."""
        return Template(**{**self._things, **things}).given(self.parameters)

    def without(self, *names: str) -> Template:
        """Return the same template with some resources removed."""
        kept = {name: entry for name, entry in self.items() if name not in names}
        return Template(**kept).given(self.parameters)

    def given(self, parameters: Mapping[str, Parameter]) -> Template:
        """Return the same template with some parameters added, or given other values."""
        template = Template(**self._things)
        template.parameters = {**self.parameters, **parameters}
        return template

    def hot(self) -> Json:
        """Return the HOT template."""
        hot: Json = {
            "heat_template_version": "2021-04-16",
            "resources": {name: wanted.hot() for name, wanted in self.items()},
        }
        if self.parameters:
            hot["parameters"] = {
                name: {"type": "string", "hidden": each.hidden} for name, each in self.parameters.items()
            }
            hot["conditions"] = {name: {"equals": [Param(name).hot(), ON]} for name in self.parameters}
        return hot


def differences(template: Template, objects: Sequence[Json]) -> list[str]:
    """Return what is wrong with the objects of a stack's own things, a sentence each.

    Nothing is when every thing of the template exists once, is ACTIVE, has
    the properties asked for, refers to the objects that its references mean
    now, and when nothing else is there, but the snapshots of a stack that has
    something.
    """
    things = {name: wanted for name, wanted in template.items() if isinstance(wanted, Thing)}
    live: dict[str, list[Json]] = {}
    for found in objects:
        if template and found["kind"] == SNAPSHOT:
            continue
        live.setdefault(resource_of(found), []).append(found)
    problems = [
        f"{name} exists {len(live.get(name, ()))} times, wanted {int(name in things)}"
        for name in sorted({*live, *things})
        if len(live.get(name, ())) != int(name in things)
    ]
    # Who refers to something that is not there once cannot be judged.
    return problems or [
        f"{name}: {key} is {found!r}, wanted {wanted!r}"
        for name, thing in things.items()
        for key, found, wanted in _compare(thing, live[name][0], live)
        if found != wanted
    ]


def resource_of(found: Json) -> str:
    """Return the name of the resource that an object belongs to."""
    return str(found["owner"].rpartition("/")[2])


def _compare(wanted: Thing, found: Json, live: Mapping[str, list[Json]]) -> Iterator[tuple[str, Any, Any]]:
    properties = found["properties"]
    yield "status", found["status"], "ACTIVE"
    yield "kind", found["kind"], wanted.type
    yield "flavor", properties.get("flavor"), wanted.flavor
    yield "uses", sorted(properties.get("uses") or ()), sorted(live[used][0]["id"] for used in wanted.uses)
    yield "value", properties.get("value"), _resolve(wanted.value, live)
    for key, value in _EXTRAS.get(wanted.type, {}).items():
        yield key, properties.get(key), value


def _resolve(value: str | Used, live: Mapping[str, list[Json]]) -> Any:
    if not isinstance(value, Attribute):
        return value
    referred = live[value.resource][0]
    return referred["properties"]["value"] if value.name == "value" else referred[value.name]
