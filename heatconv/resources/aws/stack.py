# SPDX-License-Identifier: Apache-2.0
"""AWS::CloudFormation::Stack: a stack of a template that came along as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import attributes, exception, properties, stack_resource
from heatconv.resources.i18n import _
from heatconv.resources.rsrc_defn import ResourceDefinition

_schema = properties.Schema

OUTPUTS = "Outputs."  #: what the names of all attributes begin with


class NestedStack(stack_resource.StackResource):
    """A stack in a stack, whose template is named by a URL.

    The text is the one that came with the outer template under that name, as
    ``get_file`` makes clients send it: nothing is fetched here.
    """

    PROPERTIES = (TEMPLATE_URL, TIMEOUT_IN_MINS, PARAMETERS) = (
        "TemplateURL",
        "TimeoutInMinutes",
        "Parameters",
    )

    properties_schema = {
        TEMPLATE_URL: _schema(
            _schema.STRING,
            _("The template, by its name among the files."),
            required=True,
            update_allowed=True,
        ),
        TIMEOUT_IN_MINS: _schema(
            _schema.INTEGER,
            _("The minutes that an action on the stack may take."),
            update_allowed=True,
        ),
        PARAMETERS: _schema(_schema.MAP, _("The parameters of the stack."), update_allowed=True),
    }

    def child_template(self) -> str:
        url = self.properties[self.TEMPLATE_URL]
        files = self.nested_stacks.inherited(self.name, self.definition.implemented_by).files
        if url not in files:
            raise exception.NotFound(
                _("There is no file %s among those that came with the template, and none is fetched.") % url
            )
        return files[url]

    def child_params(self) -> Mapping[str, Any]:
        return self.properties[self.PARAMETERS] or {}

    def handle_create(self) -> Any:
        return self._follow_template()

    def handle_update(self, json_snippet: ResourceDefinition, tmpl_diff: Any, prop_diff: Any) -> Any:
        self.become(json_snippet.definition)
        return self._follow_template()

    def _follow_template(self) -> str:
        timeout = self.properties[self.TIMEOUT_IN_MINS]
        return self.create_with_template(self.child_template(), self.child_params(), timeout)

    # -- what it tells --------------------------------------------------------------------

    def get_reference_id(self) -> str:
        identifier = self.nested_identifier() if self.resource_id is not None else None
        return self.name if identifier is None else identifier.arn()

    @classmethod
    def may_have(cls, attribute: str) -> bool:
        """Tell whether a reference to an attribute can be right."""
        return attribute.startswith(OUTPUTS) or attribute in cls.base_attributes_schema

    def get_attribute(self, key: str, *path: str | int) -> Any:
        if key in self.base_attributes_schema:
            return super().get_attribute(key, *path)
        if not key.startswith(OUTPUTS):
            raise exception.InvalidTemplateAttribute(resource=self.name, key=key)
        return attributes.select_from_attribute(self.get_output(key.removeprefix(OUTPUTS)), path)
