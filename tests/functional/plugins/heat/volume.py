# SPDX-License-Identifier: Apache-2.0
"""A volume, which is made in several steps."""

from heat.common import exception
from heat.common.i18n import _
from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource
from heat.engine import support


class Volume(resource.Resource):
    """A volume that is made, then formatted, then attached."""

    support_status = support.SupportStatus(version="8.0.0")

    PROPERTIES = (SIZE, FORMAT) = ("size", "format")

    properties_schema = {
        SIZE: properties.Schema(
            properties.Schema.INTEGER,
            _("The size in gigabytes."),
            required=True,
            constraints=[constraints.Range(min=1, max=100)],
        ),
        FORMAT: properties.Schema(
            properties.Schema.STRING,
            _("The file system."),
            default="ext4",
            constraints=[constraints.AllowedValues(["ext4", "xfs"])],
        ),
    }

    default_client_name = "fakecloud"

    entity = "things"

    STEPS = ("made", "formatted", "attached")

    def handle_create(self):
        volume = self.client().things.create(
            self.physical_resource_name(),
            "Volume",
            self.stack.name + "/" + self.name,
            size=self.properties[self.SIZE],
            step=self.STEPS[0],
        )
        self.resource_id_set(volume.id)
        return {"to_do": list(self.STEPS[1:])}

    def check_create_complete(self, progress):
        volume = self.client().things.get(self.resource_id)
        if volume.status == "ERROR":
            raise exception.ResourceInError(resource_status=volume.status, status_reason=_("no space"))
        if volume.status != "ACTIVE":
            return False
        if not progress["to_do"]:
            return True
        step = progress["to_do"].pop(0)
        self.client().things.update(self.resource_id, step=step)
        self.data_set("last_step", step)
        return False

    def check_delete_complete(self, volume_id):
        if volume_id is None:
            return True
        with self.client_plugin().ignore_not_found:
            self.client().things.get(volume_id)
            return False
        return True


def resource_mapping():
    return {"My::Cloud::Volume": Volume}
