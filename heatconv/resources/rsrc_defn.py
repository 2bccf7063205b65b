# SPDX-License-Identifier: Apache-2.0
"""A definition by the methods plugins call on it, and the difference of two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from heatconv.model.definition import Definition
from heatconv.model.states import DeletionPolicy
from heatconv.resources.properties import Properties, Schema


class ResourceDefinition:
    """A resource's snippet as the hooks of a plugin get it."""

    DELETE, RETAIN, SNAPSHOT = DELETION_POLICIES = ("Delete", "Retain", "Snapshot")

    _translated: Mapping[str, Any] | None = (
        None  #: the properties by the rules of the type, if hooks read those
    )

    def __init__(  # noqa: PLR0917  # the signature plugins know
        self,
        name: str,
        resource_type: str,
        properties: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        depends: Iterable[str] | None = None,
        deletion_policy: str | None = None,
        update_policy: Mapping[str, Any] | None = None,
        description: str | None = None,
        external_id: str | None = None,
    ) -> None:
        self.definition = Definition(
            name=name,
            type=resource_type,
            properties=properties or {},
            metadata=metadata or {},
            depends_on=tuple(depends or ()),
            deletion_policy=DeletionPolicy(deletion_policy or self.DELETE),
            update_policy=update_policy or {},
            description=description or "",
            external_id=external_id,
        )

    @classmethod
    def of(cls, definition: Definition) -> Self:
        """Return a definition as the hooks of a plugin get it."""
        snippet = cls.__new__(cls)  # the parts are there, put together
        snippet.definition = definition
        return snippet

    def translated(self, properties: Mapping[str, Any]) -> Self:
        """Return the same snippet, of which ``properties`` gives what the type's rules made of them."""
        snippet = self.of(self.definition)
        snippet._translated = properties  # noqa: SLF001 - it is one of these
        return snippet

    @property
    def name(self) -> str:
        """The name of the resource."""
        return self.definition.name

    @property
    def resource_type(self) -> str:
        """The name of its type."""
        return self.definition.type

    @property
    def description(self) -> str:
        """What the template says of it."""
        return self.definition.description

    def properties(self, schema: Mapping[str, Schema], context: Any = None) -> Properties:
        """Return the properties as seen through a schema."""
        return Properties(
            schema,
            self.definition.properties if self._translated is None else self._translated,
            parent_name=f"resources.{self.name}",
            context=context,
            section="properties",
        )

    def update_policy(self, schema: Mapping[str, Schema], context: Any = None) -> Properties:
        """Return the update policy as seen through a schema."""
        return Properties(
            schema,
            self.definition.update_policy,
            parent_name=f"resources.{self.name}",
            context=context,
            section="update_policy",
        )

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata."""
        return self.definition.metadata

    def deletion_policy(self) -> str:
        """Return what becomes of the physical resource in the end."""
        return self.definition.deletion_policy

    def external_id(self) -> str | None:
        """Return the id of the thing this resource stands for without owning it."""
        return self.definition.external_id

    def freeze(self, **changes: Any) -> ResourceDefinition:
        """Return the snippet with some of its parts, named as at construction, replaced."""
        if "depends" in changes:
            changes["depends_on"] = tuple(changes.pop("depends"))
        if "deletion_policy" in changes:
            changes["deletion_policy"] = DeletionPolicy(changes["deletion_policy"])
        return self.of(self.definition.changed(**changes))

    def __sub__(self, before: ResourceDefinition) -> ResourceDefinitionDiff:
        return ResourceDefinitionDiff(before, self)


class ResourceDefinitionDiff:
    """What changed between two snippets; true if an action is due at all."""

    def __init__(self, before: ResourceDefinition, after: ResourceDefinition) -> None:
        self._before = before.definition
        self._after = after.definition

    def properties_changed(self) -> bool:
        """Tell whether the properties differ as given."""
        return self._before.properties != self._after.properties

    def metadata_changed(self) -> bool:
        """Tell whether the metadata differ."""
        return self._before.metadata != self._after.metadata

    def update_policy_changed(self) -> bool:
        """Tell whether the update policy differs."""
        return self._before.update_policy != self._after.update_policy

    def __bool__(self) -> bool:
        return self.properties_changed() or self.metadata_changed() or self.update_policy_changed()
