# SPDX-License-Identifier: Apache-2.0
"""A template as a type: its parameters are the properties, its outputs the attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heatconv.model.definition import Definition
from heatconv.resources import attributes, exception
from heatconv.resources.properties import Properties, Schema
from heatconv.resources.rsrc_defn import ResourceDefinition
from heatconv.resources.stack_resource import StackResource

_MEMBER = "resource."  #: how an attribute begins that is one of a resource in the template
_REFERENCE = "OS::stack_id"  #: the output that stands for the whole, if there is one


class TemplateResource(StackResource):
    """A resource whose type is a template among the files of its stack.

    What the template takes and gives is known where it is validated
    (``declared``); a worker takes the properties as they come, for the engine
    that makes the nested stack of them checks them again.
    """

    properties_schema: Mapping[str, Schema] = {}
    attributes_schema: Mapping[str, attributes.Schema] = {}
    is_declared: ClassVar[bool] = False

    @classmethod
    def declared(cls, parameters: Mapping[str, Schema], outputs: Mapping[str, str]) -> type[TemplateResource]:
        """Return the class of a template with these parameters, and outputs with their descriptions."""
        return type(
            cls.__name__,
            (cls,),
            {
                "__module__": cls.__module__,
                "properties_schema": dict(parameters),
                "attributes_schema": {name: attributes.Schema(text) for name, text in outputs.items()},
                "is_declared": True,
            },
        )

    def parse_properties(self, definition: Definition, lenient: bool = False) -> Properties:
        """Return the properties as declared, or, where that is not known, as they are."""
        if self.is_declared:
            return super().parse_properties(definition, lenient)
        names = {*definition.properties, *self.definition.properties, *self.properties_schema}
        # An update asks for the properties before it and after it, which other parameters may have made.
        self.properties_schema = {name: Schema(Schema.ANY, update_allowed=True) for name in names}
        return ResourceDefinition.of(definition).properties(self.properties_schema, self.context)

    @classmethod
    def may_have(cls, attribute: str) -> bool:
        """Tell whether a reference to an attribute can be right."""
        if attribute.startswith(_MEMBER) or not cls.is_declared:
            return True
        return attribute in {**cls.attributes_schema, **cls.base_attributes_schema}

    def child_template(self) -> str:
        file = self.definition.implemented_by
        try:
            return self.nested_stacks.inherited(self.name, file).files[file]
        except KeyError:
            raise exception.Error(f"There is no file {file} among the files of the stack.") from None

    def child_params(self) -> dict[str, Any]:
        given = self.properties.data
        return {name: value for name, value in given.items() if value is not None}

    def get_reference_id(self) -> str:
        if self.resource_id is None:
            return self.name
        if _REFERENCE in self.child_template() and self._outputs.values.get(_REFERENCE) is not None:
            return str(self._outputs.values[_REFERENCE])
        identifier = self.nested_identifier()
        return self.name if identifier is None else identifier.arn()

    def get_attribute(self, key: str, *path: str | int) -> Any:
        """Return an output, or with ``resource.NAME`` an attribute of a resource in the template."""
        if key.startswith(_MEMBER):
            name, _, attribute = key.removeprefix(_MEMBER).partition(".")
            if not attribute and path:
                attribute, *rest = map(str, path)
                return attributes.select_from_attribute(self._member(name, attribute), rest)
            return attributes.select_from_attribute(self._member(name, attribute or None), path)
        if key in self.base_attributes_schema:
            return super().get_attribute(key, *path)
        return attributes.select_from_attribute(self.get_output(key), path)
