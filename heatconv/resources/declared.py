# SPDX-License-Identifier: Apache-2.0
"""What a resource type says by what it declares: its own hooks, and what an update can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from heatconv.resources.properties import Schema

#: The modules of the contract itself, whose hooks are nobody's own.
_OWN_LAYERS = {
    f"heatconv.resources.{layer}"
    for layer in ("core", "kept", "reading", "hooks", "updating", "handover", "resource")
}


class Declares(Protocol):
    """A resource, as far as it says what an update can change."""

    @property
    def properties_schema(self) -> Mapping[str, Schema]:
        """The schemas of its properties."""

    @property
    def update_allowed_properties(self) -> Sequence[str]:
        """The names of properties that an update can change whatever their schemas say."""


def implements(type_: type, hook: str) -> bool:
    """Tell whether a type has a hook of its own, or an optional one at all."""
    for layer in type_.__mro__:
        if hook in vars(layer):
            return layer.__module__ not in _OWN_LAYERS
    return False


def leaves_snapshots(type_: type) -> bool:
    """Tell whether the deletion of a resource of a type can leave a snapshot."""
    return implements(type_, "handle_snapshot_delete")


def updatable(resource: Declares) -> set[str]:
    """Return the names of the properties that an update can change in place."""
    declared = {name for name, schema in resource.properties_schema.items() if schema.update_allowed}
    return declared | set(resource.update_allowed_properties)
