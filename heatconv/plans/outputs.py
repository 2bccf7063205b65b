# SPDX-License-Identifier: Apache-2.0
"""What a resource will give to those that require it, as far as that can be known before."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any

from heatconv.model.deferred import Reference
from heatconv.model.definition import Definition
from heatconv.model.nodes import NodeData
from heatconv.model.records import ResourceRow
from heatconv.model.secrets import found_in
from heatconv.model.unknown import Hang, Place, Unknown, contains_unknown, may_be
from heatconv.resources import attributes, referenced
from heatconv.resources.nested import Outputs
from heatconv.resources.reading import Reading
from heatconv.resources.resource import Resource

_REFERENCE = "OS::stack_id"  #: the output of a template that stands for what is made of it


def of_row(row: ResourceRow) -> NodeData:
    """Return what a row gives that nothing is done to."""
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=row.reference_id,
        attributes=row.attributes,
        output_version=row.output_version,
        secrets=found_in([row.reference_id, dict(row.attributes)], row.secrets),
    )


def unchanged(row: ResourceRow, place: Place, keys: Iterable[str], plugin: Resource) -> NodeData:
    """Return what a row gives that nothing is done to, by its plugin if more is asked than before."""
    known = dict(row.attributes)
    for key in set(keys) - known.keys():
        known[key] = _read(plugin, place, key)
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=row.reference_id,
        attributes=known,
        output_version=row.output_version,
        secrets=found_in([row.reference_id, known], row.secrets),
    )


def changed(
    row: ResourceRow, place: Place, wanted: Definition, keys: Iterable[str], plugin: Resource
) -> NodeData:
    """Return what a row gives that is updated in place; the plugin has become what is wanted."""
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=Unknown([Hang(place)]) if _moves(row, wanted) else _reference_id(place, wanted, plugin),  # type: ignore[arg-type] # unknown where a worker knows
        attributes={key: foreseen(plugin, place, key) for key in keys},
        secrets=wanted.secrets,
    )


def made(
    row: ResourceRow,
    place: Place,
    wanted: Definition,
    keys: Iterable[str],
    plugin: Resource,
    *,
    before: ResourceRow | None,
) -> NodeData:
    """Return what a resource gives that is made anew; the plugin has become what is wanted.

    ``before`` is what is certainly replaced by it.
    """
    external = wanted.external_id
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=external or Unknown([Hang(place)], _never(before, plugin)),  # type: ignore[arg-type] # unknown where a worker knows
        attributes={key: foreseen(plugin, place, key) for key in keys},
        secrets=wanted.secrets,
    )


def opaque(row: ResourceRow, place: Place, keys: Iterable[str]) -> NodeData:
    """Return what a resource gives of which nothing can be said."""
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=Unknown([Hang(place)]),  # type: ignore[arg-type] # unknown where a worker knows
        attributes={key: Unknown([_hang(place, key)]) for key in keys},
    )


def foreseen(plugin: Resource, place: Place, key: str) -> Any:
    """Return an attribute as it will be, by what the type knows of it."""
    attribute, path = _parted(key)
    try:
        value = plugin.foresee_attribute(attribute) if attribute else Unknown()
    except Exception:  # noqa: BLE001 - a plugin may raise anything of a value that it does not know
        value = Unknown()
    found = attributes.select_from_attribute(value, path)
    return Unknown([_hang(place, key)]) if isinstance(found, Unknown) and not found.hangs_on else found


def of_owner(
    row: ResourceRow,
    place: Place,
    wanted: Definition,
    keys: Iterable[str],
    plugin: Resource,
    *,
    anew: bool,
    inner: Outputs,
) -> NodeData:
    """Return what a resource gives that owns a stack, as its type makes it of what will be in there."""
    named = anew or contains_unknown(inner.values.get(_REFERENCE))
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=Unknown([Hang(place)]) if named else _reference_id(place, wanted, plugin),  # type: ignore[arg-type] # unknown where a worker knows
        attributes={key: _read(plugin, place, key) for key in keys},
        secrets=wanted.secrets,
    )


def _read(plugin: Resource, place: Place, key: str) -> Any:
    attribute, path = _parted(key)
    try:
        found = referenced.values(plugin, [Reference(plugin.name, attribute, path)])
    except Exception:  # noqa: BLE001 - a plugin, or a service that it asks, may raise anything
        return Unknown([_hang(place, key)])
    return found.get(key, Unknown([_hang(place, key)]))


def _never(before: ResourceRow | None, plugin: Resource) -> list[str]:
    """Return what the reference id of something that is made anew cannot be.

    A physical id that is a UUID was made up by a service, which never gives it to another thing; unless
    it is the id of what the resource only links, or of its row.
    """
    if before is None or before.reference_id is None or before.reference_id != before.physical_id:
        return []
    try:
        uuid.UUID(before.physical_id)
    except ValueError:
        return []
    return (
        [] if before.physical_id == before.id or _links(plugin, before.physical_id) else [before.physical_id]
    )


def _links(plugin: Resource, known: str) -> bool:
    """Tell whether an id is, or may be, the value of a property."""
    try:
        given = dict(plugin.parse_properties(plugin.definition, lenient=True))
    except Exception:  # noqa: BLE001 - a plugin may raise anything of a value that it does not know
        return True
    return any(
        value == known or (isinstance(value, Unknown) and may_be(value, known)) for value in given.values()
    )


def _moves(row: ResourceRow, wanted: Definition) -> bool:
    """Tell whether an update in place may give another physical id: that of what a property now names."""
    made = {} if row.applied is None else row.applied.properties
    return row.physical_id is not None and any(
        value == row.physical_id and wanted.properties.get(name) != value for name, value in made.items()
    )


def _is_usual(plugin: Resource) -> bool:
    """Tell whether the reference id of a resource is the physical one."""
    usual = type(plugin).get_reference_id is Reading.get_reference_id
    return usual and type(plugin).FnGetRefId is Reading.FnGetRefId


def _reference_id(place: Place, wanted: Definition, plugin: Resource) -> Any:
    if not _is_usual(plugin) and contains_unknown([wanted.properties, wanted.metadata]):
        return Unknown([Hang(place)])
    try:
        return plugin.FnGetRefId()
    except Exception:  # noqa: BLE001 - a plugin may raise anything
        return Unknown([Hang(place)])


def _parted(key: str) -> tuple[str, tuple[str | int, ...]]:
    attribute, *path = json.loads(key)
    return attribute, tuple(path)


def _hang(place: Place, key: str) -> Hang:
    attribute, path = _parted(key)
    return Hang(place, ".".join(map(str, (attribute, *path))) or "attributes")
