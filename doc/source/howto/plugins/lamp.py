# SPDX-License-Identifier: Apache-2.0
"""A lamp: a resource type that keeps its state in a file, to show what a plugin is made of."""

from __future__ import annotations

import json
from pathlib import Path

from heatconv.resources import attributes, constraints, properties, resource

DIRECTORY = Path("/tmp/lamps")  # noqa: S108 - an example


class Lamp(resource.Resource):
    """A lamp that is a file."""

    PROPERTIES = (COLOUR, ROOM) = ("colour", "room")

    properties_schema = {
        COLOUR: properties.Schema(
            properties.Schema.STRING,
            "The colour of its light; it can be changed.",
            default="white",
            constraints=[constraints.AllowedValues(["white", "red", "green"])],
            update_allowed=True,
        ),
        ROOM: properties.Schema(
            properties.Schema.STRING,
            "Where it hangs. Another room takes another lamp.",
            required=True,
        ),
    }
    attributes_schema = {"path": attributes.Schema("Where the lamp is.", type=attributes.Schema.STRING)}

    def handle_create(self):
        """Hang up the lamp, and say at once what it is called."""
        name = self.physical_resource_name()
        DIRECTORY.mkdir(exist_ok=True)
        self._path(name).write_text(json.dumps(dict(self.properties)))
        self.resource_id_set(name)
        return {"name": name}

    def check_create_complete(self, token):
        """It is complete when it is there."""
        return self._path(token["name"]).exists()

    def find_existing(self):
        """Find the lamp of a create that was interrupted before its name was noted."""
        name = self.physical_resource_name()
        return name if self._path(name).exists() else None

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        """Change the colour; only what is ``update_allowed`` arrives here."""
        path = self._path(self.resource_id)
        path.write_text(json.dumps({**json.loads(path.read_text()), **prop_diff}))

    def handle_delete(self):
        """Take the lamp down; that it is gone already is fine."""
        if self.resource_id is not None:
            self._path(self.resource_id).unlink(missing_ok=True)

    def _resolve_attribute(self, name):
        return str(self._path(self.resource_id))

    @staticmethod
    def _path(name):
        return DIRECTORY / f"{name}.json"


def resource_mapping():
    """Name the types of this module."""
    return {"Local::Lamp": Lamp}
