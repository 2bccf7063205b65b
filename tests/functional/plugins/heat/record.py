# SPDX-License-Identifier: Apache-2.0
"""A record, of which there is much to read."""

from heat.common.i18n import _
from heat.engine import attributes
from heat.engine import properties
from heat.engine import resource


class Record(resource.Resource):
    PROPERTIES = (CONTENT,) = ("content",)

    ATTRIBUTES = (CONTENT_ATTR, SERIAL, SECRET) = ("content", "serial", "secret")

    properties_schema = {
        CONTENT: properties.Schema(
            properties.Schema.MAP,
            schema={
                "title": properties.Schema(properties.Schema.STRING, required=True),
                "lines": properties.Schema(
                    properties.Schema.LIST, schema=properties.Schema(properties.Schema.INTEGER)
                ),
            },
            required=True,
        ),
    }

    attributes_schema = {
        CONTENT_ATTR: attributes.Schema(_("All of it."), type=attributes.Schema.MAP),
        SERIAL: attributes.Schema(
            _("A number."), cache_mode=attributes.Schema.CACHE_NONE, type=attributes.Schema.INTEGER
        ),
        SECRET: attributes.Schema(type=attributes.Schema.STRING),
    }

    default_client_name = "fakecloud"

    entity = "things"

    def handle_create(self):
        record = self.client().things.create(
            self.physical_resource_name(),
            "Record",
            self.stack.name + "/" + self.name,
            serial=7,
            **self.properties[self.CONTENT],
        )
        self.resource_id_set(record.id)
        self.data_set("secret", "hush", redact=True)

    def _resolve_attribute(self, name):
        if name == self.SECRET:
            return self.data().get("secret")
        record = self.client().things.get(self.resource_id)
        if name == self.SERIAL:
            return record.properties["serial"]
        return record.properties

    def FnGetRefId(self):
        return self.physical_resource_name_or_FnGetRefId()


def resource_mapping():
    return {"My::Cloud::Record": Record}
