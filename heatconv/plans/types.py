# SPDX-License-Identifier: Apache-2.0
"""The resource types that a plan goes by: a digest of what of them can alter a decision.

An engine that was started with other plugins, or a newer release, may decide otherwise on the same
rows.  What a plan says would then be another's word.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any

from heatconv import errors
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource

Digest = Mapping[str, str]  #: of one type: its ``class``, ``version`` and ``properties``

_SENTENCES = {
    "class": "it is implemented by {now}, and was by {then}",
    "version": "it is of {now}, and was of {then}",
    "properties": "its properties are declared otherwise",
}


def digests(registry: Registry, names: Iterable[str]) -> dict[str, Digest]:
    """Return the digests of types by their names; of one that is not there it is empty."""
    return {name: _of_name(registry, name) for name in sorted(names)}


def changed(registry: Registry, then: Mapping[str, Digest]) -> Iterator[str]:
    """Yield a sentence on each type that is not what it was, by its digest then."""
    for name, before in then.items():
        now = _of_name(registry, name)
        if before and not now:
            yield f"the type {name} is not there any more"
        elif before and before != now:
            part = next(each for each in _SENTENCES if before[each] != now[each])
            sentence = _SENTENCES[part].format(now=now[part], then=before[part])
            yield f"the type {name} is another by now: {sentence}"


def _of_name(registry: Registry, name: str) -> Digest:
    try:
        return _of_class(registry.get(name))  # type: ignore[arg-type]  # a class has a hash
    except errors.NotFound:
        return {}


@functools.lru_cache(maxsize=1024)
def _of_class(type_: type[Resource]) -> Digest:
    declared = [
        _of_schemas(type_.properties_schema),
        _of_schemas(type_.update_policy_schema),
        sorted(type_.update_allowed_properties),
    ]
    return {
        "class": f"{type_.__module__}:{type_.__qualname__}",
        "version": ", ".join(_versions(type_)),
        "properties": _sha1(declared),
    }


def _of_schemas(schemas: Mapping[str, Schema]) -> dict[str, Any]:
    return {name: _of_schema(schema) for name, schema in schemas.items()}


def _of_schema(schema: Schema) -> list[Any]:
    inside = (
        _of_schemas(schema.nested) if schema.nested is not None else schema.item and _of_schema(schema.item)
    )
    traits = (schema.required, schema.implemented, schema.update_allowed, schema.immutable)
    return [schema.type, schema.default, *traits, inside]


def _sha1(declared: Any) -> str:
    # Not for security: it finds what was changed.  A default may be anything that has a text.
    text = json.dumps(declared, sort_keys=True, default=str)
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _versions(type_: type[Resource]) -> list[str]:
    """Return the distributions that a type's classes come from, with their versions, as far as is known."""
    packages = {layer.__module__.partition(".")[0] for layer in type_.__mro__}
    found = {name for package in packages for name in _distributions().get(package, ())}
    return [f"{name} {metadata.version(name)}" for name in sorted(found)]


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()
