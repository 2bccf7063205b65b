# SPDX-License-Identifier: Apache-2.0
"""Dependencies that no reference shows, and a plugin knows: a port takes its address of a subnet.

They are asked for when a template is frozen, of the types that override
``add_dependencies``, and from then on are as if the template had written them:
what is required is there before, and deleted after.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn, Self

from heatconv import errors
from heatconv.model.definition import Definition
from heatconv.model.secrets import account
from heatconv.resources import exception
from heatconv.resources.declared import implements
from heatconv.resources.facts import Among, StackFacts
from heatconv.resources.resource import Resource
from heatconv.resources.unknown import Seen, as_unknown, word
from heatconv.resources.validation import fault_of
from heatconv.template.order import CircularDependency, dependency_order

LOG = logging.getLogger(__name__)

Definitions = Mapping[str, Definition]
Classes = Mapping[str, type[Resource]]


def added(definitions: Definitions, classes: Classes, stack: StackFacts) -> Definitions:
    """Return the definitions of a template, each with the dependencies that its type adds.

    Costs nothing for types that add nothing.

    Raises:
        Invalid: a plugin fails on it, or what it adds closes a circle.
    """
    adding = {type_ for type_ in set(classes.values()) if implements(type_, "add_dependencies")}
    if not adding:
        return definitions
    named = Neighbours(definitions, classes, stack, Seen.REFERENCES)
    unnamed = Neighbours(definitions, classes, stack, Seen.NONE)
    dependencies: defaultdict[str, set[str]] = defaultdict(set)
    for name, class_ in classes.items():
        if class_ in adding:
            known = _ask(named, name, dependencies[name])
            # Things that its service would have to know are not there yet: it is to assume the worst.
            if not known:
                _ask(unnamed, name, dependencies[name])
    together = {
        name: definition.changed(depends_on=(*definition.depends_on, *sorted(dependencies[name])))
        if dependencies.get(name)
        else definition
        for name, definition in definitions.items()
    }
    _check_order(together)
    return together


def _ask(neighbours: Neighbours, name: str, added: set[str]) -> bool:
    """Add the names a resource depends on; return whether its plugin knew them without its service."""
    plugin = neighbours[name]
    among = plugin.looks_among()
    if among is not None:
        plugin.stack = replace(plugin.stack, resources=neighbours.among(among))
    neighbours.clients.asked = False
    try:
        plugin.add_dependencies(Dependencies(neighbours, name, added))
    except errors.HeatconvError:
        raise
    except (ValueError, TypeError):
        pass  # because of a value that is not known yet; with the known values it is valid
    except Exception as error:
        LOG.warning(
            "%s: asking %s what it depends on failed: %s",
            plugin,
            plugin.type(),
            account(error, plugin.definition.secrets),
        )
        path = f"resources.{plugin.name}"
        raise errors.Invalid(problems=[(path, fault_of(plugin.type(), error))]) from error
    return not neighbours.clients.asked


def _check_order(definitions: Definitions) -> None:
    try:
        dependency_order({name: definition.requires for name, definition in definitions.items()})
    except CircularDependency as error:
        sentence = f"Circular dependency: {error}, with what the types of these resources depend on besides."
        raise errors.Invalid(problems=[(f"resources.{error.members[0]}", sentence)]) from error


class Neighbours(Mapping[str, Resource]):
    """The resources of a template as their plugins see them before anything is made."""

    def __init__(self, definitions: Definitions, classes: Classes, stack: StackFacts, seen: Seen) -> None:
        self._definitions = definitions
        self._classes = classes
        self._seen = seen
        self._made: dict[str, Resource] = {}
        self._sorted: dict[tuple[str, tuple[str, ...]], Mapping[str | None, list[str]]] = {}
        self.clients = _Mute(stack.context)
        self._facts = replace(stack, context=self.clients, resources=self)

    def __getitem__(self, name: str) -> Resource:
        if name not in self._made:
            definition = self._definitions[name]
            judged = definition.changed(properties=as_unknown(definition.properties, self._seen))
            self._made[name] = self._classes[name](name, judged, self._facts)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def among(self, wanted: Among) -> Mapping[str, Resource]:
        """Return the resources that a plugin looks for."""
        kind = wanted.type, wanted.properties
        if kind not in self._sorted:
            self._sorted[kind] = self._sort(*kind)
        names_by_value = self._sorted[kind]
        names = {name for value in (*wanted.values, None) for name in names_by_value.get(value, ())}
        return {name: self[name] for name in sorted(names)}

    def _sort(self, type_: str, properties: Iterable[str]) -> Mapping[str | None, list[str]]:
        """Return the resources of a type by the values of some properties; None: the values are not known."""
        names_by_value: defaultdict[str | None, list[str]] = defaultdict(list)
        for name, definition in self._definitions.items():
            if name in self._classes and type_ in (definition.type, definition.implemented_by):
                given = [as_unknown(definition.properties.get(each), self._seen) for each in properties]
                for value in {word(each) for each in given if each is not None} or {None}:
                    names_by_value[value].append(name)
        return names_by_value

    def required(self, name: str) -> frozenset[str]:
        """Return the names of the resources that the template has a resource depend on."""
        return self._definitions[name].requires & self._definitions.keys()


class _Mute:
    """A context whose clients ask nobody: it costs too much, and the things asked about are not there yet."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.asked = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    @property
    def clients(self) -> Any:
        """The clients, which are there by ``client_plugin`` only."""
        return self

    def client_plugin(self, name: str) -> Any:
        """Return the plugin of a service's client."""
        return self._context.clients.client_plugin(name)

    def client(self, name: str, **_version: Any) -> NoReturn:
        """Refuse, and note that a service was to be asked.

        Raises:
            ClientNotAvailable: always.
        """
        self.asked = True
        raise exception.ClientNotAvailable(client_name=name)


class Dependencies:
    """What a resource's plugin adds to: ``deps += (self, other)``."""

    def __init__(self, neighbours: Neighbours, name: str, added: set[str]) -> None:
        self._neighbours = neighbours
        self._name = name
        self._added = added

    def __iadd__(self, edge: tuple[Resource, Resource]) -> Self:
        requirer, required = edge
        if requirer.name == self._name != required.name:
            self._added.update({required.name} - self._neighbours.required(self._name))
        return self

    def graph(self) -> Self:
        """Return a map of a resource to the resources that it requires, as far as they are known by now."""
        return self

    def __getitem__(self, requirer: Resource) -> Iterable[Resource]:
        names = self._neighbours.required(requirer.name)
        if requirer.name == self._name:
            names |= self._added
        return [self._neighbours[name] for name in sorted(names)]
