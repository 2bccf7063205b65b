# SPDX-License-Identifier: Apache-2.0
"""What a resource tells: its reference id, its attributes, its live state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from heatconv.model.definition import Definition
from heatconv.model.unknown import Unknown
from heatconv.resources import attributes, exception
from heatconv.resources.declared import updatable
from heatconv.resources.kept import Kept
from heatconv.resources.properties import Properties


class Reading(Kept):
    """A resource that answers questions about itself and its physical counterpart."""

    _was_not_found = False  #: whether an attribute is None since its service did not find what that is of

    # -- what dependents get ------------------------------------------------------------

    def get_reference_id(self) -> str:
        """Return what ``get_resource`` gives: the physical id, or the name if there is none."""
        return str(self.name if self.resource_id is None else self.resource_id)

    def FnGetRefId(self) -> str:
        """Return what ``get_resource`` gives; the name under which older plugins override it."""
        return self.get_reference_id()

    def physical_resource_name_or_FnGetRefId(self) -> str:
        """Return the physical name, for types known by name rather than by id."""
        name = self.physical_resource_name() if self.resource_id is not None else None
        return self.name if name is None else name

    def get_attribute(self, key: str, *path: str | int) -> Any:
        """Return an attribute's value, or the part of it that a path leads to.

        Raises:
            InvalidTemplateAttribute: the type has no such attribute.
        """
        return attributes.select_from_attribute(self.attributes[key], path)

    @classmethod
    def may_have(cls, attribute: str) -> bool:
        """Tell whether a reference to an attribute can be right; to be overridden to refuse more, or less."""
        # A type that overrides get_attribute decides at run time what it has.
        declared = {**cls.attributes_schema, **cls.base_attributes_schema}
        return attribute in declared or cls.get_attribute is not Reading.get_attribute

    def become(self, definition: Definition) -> None:
        """Take on a definition, and with it other attributes."""
        super().become(definition)
        self.__dict__.pop("attributes", None)

    @cached_property
    def attributes(self) -> attributes.Attributes:
        """The attributes by name."""
        schema = {**self.base_attributes_schema, **self.attributes_schema}
        return attributes.Attributes(self.name, schema, self._resolve_any)

    def _resolve_any(self, name: str) -> Any:
        resolve = self._show if name == self.SHOW else self._resolve_attribute
        try:
            return resolve(name)
        except Exception as error:
            if self._is_gone(error):
                self._was_not_found = True
                return None
            raise

    def _resolve_attribute(self, name: str) -> Any:
        """Return an attribute's value; to be overridden by types that have attributes."""
        return None

    def _show(self, _name: str) -> Any:
        return self._show_resource()

    def _show_resource(self) -> Any:
        """Return all that the service tells of the physical resource; None if it is not known."""
        if not (self.entity and self.default_client_name and self.resource_id is not None):
            return None
        return getattr(self.client(), self.entity).get(self.resource_id).to_dict()

    def foresee_attribute(self, name: str) -> Any:
        """Return an attribute as it will be once the resource is as its definition wants.

        To be overridden by types of which one follows from the properties, or never changes while
        the physical resource stays; of one that is yet to be made that has no id.  What is not
        known of the properties may be in it.  Who plans asks this, before anything is done.
        """
        return Unknown()

    def referenced_attrs(self) -> set[str | tuple[str | int, ...]]:
        """Return which attributes the stack refers to: names, and tuples of a name and the path behind it."""
        keys = [json.loads(key) for key in self._incarnation.wanted_attributes]
        return {tuple(key) if len(key) > 1 else key[0] for key in keys}

    def required_by(self) -> list[str]:
        """Return the names of the resources of the stack that require this one."""
        return list(self.stack.required_by(self.name))

    def preview(self) -> Any:
        """Return what a preview of the stack shows in this place."""
        return self

    def has_nested(self) -> bool:
        """Tell whether the resource is a stack of its own, and that is there."""
        return False

    def prepare_abandon(self) -> dict[str, Any]:
        """Return what it takes to adopt the resource again, or to go back to it as it is now."""
        return {
            "name": self.name,
            "resource_id": self.resource_id,
            "type": self.type(),
            "action": self.action,
            "status": self.status,
            "metadata": self.metadata_get(),
            "resource_data": self.data(),
        }

    # -- observation --------------------------------------------------------------------

    def get_live_state(self, resource_properties: Properties) -> Mapping[str, Any]:
        """Return the live values of properties, as far as they are known.

        Raises:
            EntityNotFound: the physical resource is gone.
            ResourceInError: the service says that it is broken.
        """
        data = self.get_live_resource_data()
        if data is None:
            return {}
        fault = self.live_fault(data)
        if fault is not None:
            raise fault
        return self.parse_live_resource_data(resource_properties, data)

    def live_fault(self, resource_data: Any) -> exception.ResourceInError | None:
        """Return what is wrong with the physical resource by what its service tells; None if nothing is."""
        status = resource_data.get("status") if isinstance(resource_data, Mapping) else None
        if str(status).upper() != "ERROR":
            return None
        return exception.ResourceInError(resource_status=status, status_reason="its service says so")

    def comparable(self) -> set[str]:
        """Return the names of the properties of which a difference from the live state is a drift.

        Those that the user gave, or that have a default: all else is the
        service's to choose.
        """
        return {name for name in self.properties if self._chosen(name) is not None}

    def _chosen(self, name: str) -> Any:
        try:
            return self.properties.get(name)
        except (TypeError, ValueError):
            return None  # it was valid once; there is nothing that it could be compared as

    def get_live_resource_data(self) -> Any:
        """Return what the service tells; None if that is not known.

        Raises:
            EntityNotFound: the physical resource is gone.
        """
        try:
            return self._show_resource()
        except Exception as error:
            if self._is_gone(error):
                raise exception.EntityNotFound(entity="Resource", name=self.name) from error
            raise

    def parse_live_resource_data(
        self, resource_properties: Properties, resource_data: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the updatable properties that the service's answer has under their own name."""
        return {key: resource_data[key] for key in updatable(self) if key in resource_data}

    def _verify_check_conditions(self, checks: Iterable[Mapping[str, Any]]) -> None:
        """Compare ``{"attr", "expected", "current"}``; a list expected is a choice.

        Raises:
            Error: something is not as it should be, and what.
        """
        wrong = [
            f"'{check['attr']}': expected '{check['expected']}', got '{check['current']}'"
            for check in checks
            if not _as_expected(check["expected"], check["current"])
        ]
        if wrong:
            raise exception.Error("; ".join(wrong))

    def _is_gone(self, error: Exception) -> bool:
        try:
            return bool(self.client_plugin().is_not_found(error))
        except exception.ClientNotAvailable:
            return False

    def _is_conflict(self, error: Exception) -> bool:
        try:
            return bool(self.client_plugin().is_conflict(error))
        except exception.ClientNotAvailable:
            return False


def _as_expected(expected: Any, current: Any) -> bool:
    return current in expected if isinstance(expected, list | tuple) else bool(current == expected)
