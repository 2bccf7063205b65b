# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::SoftwareConfig: a text to be run on servers, and the base of its kin.

A config never changes: a change of its properties replaces the resource.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping
from typing import Any

from heatconv import errors
from heatconv.model import software as model
from heatconv.resources import attributes, exception, properties, resource, support
from heatconv.resources.heat import software_io
from heatconv.resources.i18n import _
from heatconv.resources.software import Software

UNGROUPED = "Heat::Ungrouped"

GROUP_SCHEMA = properties.Schema(
    properties.Schema.STRING, _("The tool on the server that knows what to do with it."), default=UNGROUPED
)


class OfSoftware(resource.Resource):
    """A resource that keeps something among the configs and deployments of its project."""

    goes_by_what_it_finds = True

    @property
    def software(self) -> Software:
        """The configs and deployments of the stack's project."""
        if self.stack.software is None:
            raise errors.NotSupported(feature=f"Reading what {self.name} has deployed here")
        return self.stack.software

    @property
    def kept_id(self) -> str:
        """The id of what the resource keeps: the same one for an incarnation, however often it asks."""
        if self.resource_id is not None:
            return self.resource_id
        return str(uuid.uuid5(uuid.UUID(self.uuid), "software"))


class BaseConfig(OfSoftware):
    """A resource that keeps a config; a subclass tells what is in it."""

    attributes_schema: Mapping[str, attributes.Schema] = {
        "config": attributes.Schema(_("What is to be run."), type=attributes.Schema.STRING)
    }

    def content(self) -> dict[str, Any]:
        """Return the parts of the config by name."""
        raise NotImplementedError

    def handle_create(self) -> None:
        config = model.SoftwareConfig(id=self.kept_id, name=self.physical_resource_name(), **self.content())
        self.software.add_config(config)
        self.resource_id_set(config.id)

    def find_existing(self) -> str | None:
        kept = self._find()
        return None if kept is None else kept.id

    def handle_delete(self) -> None:
        with contextlib.suppress(errors.NotFound):
            self.software.delete_config(self.kept_id)

    def _resolve_attribute(self, name: str) -> Any:
        kept = self._find()
        return None if kept is None else kept.config

    def _find(self) -> model.SoftwareConfig | None:
        try:
            return self.software.get_config(self.kept_id)
        except errors.NotFound:
            return None


class DeclaredConfig(BaseConfig):
    """A config that says what it takes and what it tells."""

    INPUTS, OUTPUTS, OPTIONS = ("inputs", "outputs", "options")

    properties_schema = {
        INPUTS: properties.Schema(
            properties.Schema.LIST,
            _("What the config takes."),
            schema=properties.Schema(properties.Schema.MAP, schema=software_io.INPUT),
        ),
        OUTPUTS: properties.Schema(
            properties.Schema.LIST,
            _("What the config tells."),
            schema=properties.Schema(properties.Schema.MAP, schema=software_io.OUTPUT),
        ),
        OPTIONS: properties.Schema(properties.Schema.MAP, _("Options for the tool on the server.")),
    }

    def validate(self) -> None:
        super().validate()
        path = f"resources.{self.name}.properties.{self.INPUTS}"
        for where, sentence in software_io.default_problems(self.properties[self.INPUTS] or (), path):
            raise exception.StackValidationFailed(path=where, message=sentence)

    def content(self) -> dict[str, Any]:
        return {
            "inputs": software_io.inputs(self.properties[self.INPUTS]),
            "outputs": software_io.outputs(self.properties[self.OUTPUTS]),
            "options": self.properties[self.OPTIONS],
        }


class SoftwareConfig(DeclaredConfig):
    """A text to be run on servers, with what it takes and what it tells."""

    support_status = support.SupportStatus(version="2014.1")

    GROUP, CONFIG = ("group", "config")

    properties_schema = {
        GROUP: GROUP_SCHEMA,
        CONFIG: properties.Schema(properties.Schema.STRING, _("What is to be run.")),
        **DeclaredConfig.properties_schema,
    }

    def content(self) -> dict[str, Any]:
        group, config = self.properties[self.GROUP], self.properties[self.CONFIG]
        return super().content() | {"group": group, "config": config}
