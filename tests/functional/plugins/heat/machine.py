# SPDX-License-Identifier: Apache-2.0
"""A machine, which can be suspended, checked, and copied."""

from heat.common import exception
from heat.common.i18n import _
from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource


class Machine(resource.Resource):
    PROPERTIES = (COLOUR, IMAGE, NAME) = ("colour", "image", "name")

    properties_schema = {
        COLOUR: properties.Schema(
            properties.Schema.STRING,
            default="red",
            constraints=[constraints.CustomConstraint("fakecloud.colour")],
            update_allowed=True,
        ),
        IMAGE: properties.Schema(
            properties.Schema.STRING, constraints=[constraints.CustomConstraint("fakecloud.thing")]
        ),
        NAME: properties.Schema(
            properties.Schema.STRING,
            constraints=[
                constraints.Length(min=2, max=8),
                constraints.AllowedPattern("[a-z][a-z0-9]*"),
                constraints.CustomConstraint("rel_dns_name"),
            ],
        ),
    }

    default_client_name = "fakecloud"

    entity = "things"

    def validate(self):
        super(Machine, self).validate()
        if self.properties[self.IMAGE] and self.properties[self.NAME]:
            raise exception.ResourcePropertyConflict(self.IMAGE, self.NAME)

    def handle_create(self):
        machine = self.client().things.create(
            self.properties[self.NAME] or self.physical_resource_name(),
            "Machine",
            self.stack.name + "/" + self.name,
            colour=self.properties[self.COLOUR],
            power="on",
        )
        self.resource_id_set(machine.id)

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if self.COLOUR in prop_diff:
            self.client().things.update(self.resource_id, colour=prop_diff[self.COLOUR])

    def handle_suspend(self):
        self.client().things.update(self.resource_id, power="off")

    def check_suspend_complete(self, cookie):
        return self.client().things.get(self.resource_id).properties["power"] == "off"

    def handle_resume(self):
        self.client().things.update(self.resource_id, power="on")

    def handle_check(self):
        machine = self._show_resource()
        self._verify_check_conditions(
            [
                {"attr": "power", "expected": "on", "current": machine["properties"]["power"]},
            ]
        )

    def handle_snapshot(self):
        machine = self.client().things.get(self.resource_id)
        image = self.client().things.create(
            self.physical_resource_name() + "-image",
            "Image",
            self.stack.name + "/" + self.name,
            colour=machine.properties["colour"],
        )
        self.data_set("image_id", image.id)
        return image.id

    def check_snapshot_complete(self, image_id):
        return self.client().things.get(image_id).status == "ACTIVE"

    def handle_delete_snapshot(self, snapshot):
        image_id = snapshot["resource_data"].get("image_id")
        with self.client_plugin().ignore_not_found:
            self.client().things.delete(image_id)

    def handle_restore(self, defn, restore_data):
        image_id = restore_data["resource_data"].get("image_id")
        image = self.client().things.get(image_id)
        props = dict((key, value) for key, value in self.properties.data.items() if value is not None)
        props[self.COLOUR] = image.properties["colour"]
        return defn.freeze(properties=props)


def available_resource_mapping():
    return {"My::Cloud::Machine": Machine}


def resource_mapping():
    return {"My::Cloud::Machine": None}
