# SPDX-License-Identifier: Apache-2.0
"""How an object that an interrupted create made in a cloud is found again, type by type.

Heat's plugins cannot find them.  Most objects are found by their name, which is
unique unless a user gave it.  One that a user named, or that has no name, is
told from others by a mark: its description, which is set with the very request
that makes it, if the user gave none.  A link between two objects is
found between these.

Somebody else's object is never taken for ours.  Where a user gave both name and
description, nothing tells ours from another: then nothing is found, and an
event tells what may have been left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources.naming import physical_name

MARK_LENGTH = 255  #: characters that every service takes for a description

_TAG = "heatconv: "


@dataclass(frozen=True)
class Thing:
    """An object, as a service lists it."""

    id: str
    name: str | None = None
    description: str | None = None


class Way:
    """How objects of a type are found again."""

    found_by: str  #: the property or the fact that they are found by, for the documentation
    creates: str | None = None  #: the client's method that makes one, with dots, if that takes a mark
    more: Collection[str]  #: properties that it takes further requests to give to an object
    waits_by: str | None  #: the property, or "id", that is the token of a create; None: there is none

    def is_sure(self, plugin: Resource) -> bool:  # noqa: ARG002 - some ways ask it
        """Tell whether an object that was made would be found."""
        return True

    def is_all(self, plugin: Resource) -> bool:
        """Tell whether an object that was made has all of its definition from the start."""
        return all(given(plugin, name) in (None, "", [], {}) for name in self.more)

    def needs_mark(self, plugin: Resource) -> bool:
        """Tell whether the object is made with a mark."""
        return self.creates is not None and is_free(plugin)

    def find(self, plugin: Resource) -> list[str]:
        """Return the physical ids of the objects that were made, always in the same order.

        Raises:
            Exception: the service could not be asked.
        """
        raise NotImplementedError

    def find_named(self, plugin: Resource) -> Iterator[tuple[str, str]]:  # noqa: ARG002 - some ways list
        """Yield the physical id of each object that its user sees, with its name or its mark.

        Raises:
            Exception: the service could not be asked.
        """
        yield from ()


#: The objects of a name or a description, or all that there are if None; others may be among them.
Lists = Callable[[Resource, str | None], Iterator[Thing]]


def _called(thing: Thing) -> tuple[str, str]:
    """Return an object's id with its mark, if it has one, else with its name."""
    return thing.id, (thing.description if is_mark(thing.description) else thing.name) or ""


@dataclass(frozen=True)
class ByName(Way):
    """By the unique name; where a user gave the name, by the mark, if the type has one."""

    lists: Lists
    creates: str | None = None
    found_by: str = "name"
    more: Collection[str] = ()
    waits_by: str | None = None

    def is_sure(self, plugin: Resource) -> bool:
        """Tell whether the name is unique, or there is a mark beside it."""
        return given(plugin, "name") is None or self.needs_mark(plugin)

    def needs_mark(self, plugin: Resource) -> bool:
        """Tell whether a user gave the name, and there can be a mark."""
        return given(plugin, "name") is not None and super().needs_mark(plugin)

    def find(self, plugin: Resource) -> list[str]:
        """Return the ids of the objects of that name, and with the mark if they need one."""
        if not self.is_sure(plugin):
            return []
        name = given(plugin, "name") or plugin.physical_resource_name()
        description = mark(plugin) if self.needs_mark(plugin) else None
        return sorted(
            thing.id
            for thing in self.lists(plugin, name or "")
            if thing.name == name and description in (None, thing.description)
        )

    def find_named(self, plugin: Resource) -> Iterator[tuple[str, str]]:
        """Yield the objects that its user sees."""
        yield from map(_called, self.lists(plugin, None))


@dataclass(frozen=True)
class ByMark(Way):
    """By the mark alone: such an object has no name."""

    lists: Lists
    creates: str
    found_by: str = "description"
    more: Collection[str] = ()
    waits_by: str | None = None

    def is_sure(self, plugin: Resource) -> bool:
        """Tell whether there is a mark."""
        return is_free(plugin)

    def find(self, plugin: Resource) -> list[str]:
        """Return the ids of the objects with the mark."""
        wanted = mark(plugin)
        if not self.is_sure(plugin):
            return []
        return sorted(each.id for each in self.lists(plugin, wanted) if each.description == wanted)

    def find_named(self, plugin: Resource) -> Iterator[tuple[str, str]]:
        """Yield the objects that its user sees."""
        yield from map(_called, self.lists(plugin, None))


@dataclass(frozen=True)
class ByWhatItIs(Way):
    """By a fact that can be true of one object only."""

    found_by: str
    finds: Callable[[Resource], str | None]
    creates: str | None = None
    more: Collection[str] = ()
    waits_by: str | None = None

    def find(self, plugin: Resource) -> list[str]:
        """Return the id of the object that is there."""
        found = self.finds(plugin)
        return [] if found is None else [found]


class Searchable(Resource):
    """A resource whose object is found again when its create was interrupted."""

    comes_late = True
    way: ClassVar[Way]

    def find_existing(self) -> str | None:
        """Return the physical id of the object that an interrupted create made, or None."""
        return next(iter(self.way.find(self)), None)

    def find_all(self) -> list[str]:
        """Return the physical ids of all that interrupted creates made."""
        return self.way.find(self)

    def find_named(self) -> Iterator[tuple[str, str]]:
        """Yield the physical id of each object that the stack's user sees, with its name or its mark."""
        return self.way.find_named(self)

    def is_searchable(self) -> bool:
        """Tell whether an object that an interrupted create made would be found."""
        return self.way.is_sure(self)

    def goes_on(self) -> bool:
        """Tell whether nothing remains of a create but to wait, once there is something."""
        return self.way.is_all(self)

    def token_of(self) -> Any:
        """Return the token of the create that made the object."""
        match self.way.waits_by:
            case None:
                return None
            case "id":
                return self.resource_id
            case name:
                return self.properties[name]

    def client(self, *args: Any, **kwargs: Any) -> Any:
        """Return the client of a service; the objects it makes have the mark, if they need one."""
        found = super().client(*args, **kwargs)
        if self.way.creates is not None and self.way.needs_mark(self):
            return _Marking(found, self.way.creates, mark(self))
        return found


def mark(plugin: Resource) -> str:
    """Return the description that tells a resource's object from all others."""
    limit = MARK_LENGTH - len(_TAG)
    return _TAG + physical_name(plugin.stack.name, plugin.name, plugin.uuid, limit)


def is_mark(description: str | None) -> bool:
    """Tell whether a description is the mark of some resource's object."""
    return (description or "").startswith(_TAG)


class _Marking:
    """A client, or part of one, of which one method makes objects with a mark."""

    def __init__(self, client: Any, path: str, description: str) -> None:
        self._client = client
        self._head, _, self._rest = path.partition(".")
        self._description = description

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name != self._head:
            return found
        if self._rest:
            return _Marking(found, self._rest, self._description)
        return partial(_create, found, self._description)


def _create(create: Callable[..., Any], description: str, /, *bodies: Any, **arguments: Any) -> Any:
    """Call a method that makes an object of a body such as ``{"port": {...}}``, or of its arguments."""
    if not bodies:
        return create(**arguments | {"description": description})
    marked = ({kind: made | {"description": description} for kind, made in body.items()} for body in bodies)
    return create(*marked, **arguments)


# -- a user's values ----------------------------------------------------------------------------


def given(plugin: Resource, name: str) -> Any:
    """Return a property's value as a user gave it, without translation; None if there is none."""
    return plugin.definition.properties.get(name)


def is_free(plugin: Resource) -> bool:
    """Tell whether the user leaves the description to us."""
    specs = given(plugin, "value_specs") or {}
    return not given(plugin, "description") and "description" not in specs


def first(things: Iterator[Thing]) -> str | None:
    """Return the id of one of some things, the same however they are ordered; None if there is none."""
    return min((thing.id for thing in things), default=None)
