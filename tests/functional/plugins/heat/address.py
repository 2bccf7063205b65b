# SPDX-License-Identifier: Apache-2.0
"""A holder of an address that no two can have, which it gives to what replaces it."""

from heat.common.i18n import _
from heat.engine import properties
from heat.engine import resource

from heatconv.testing import failures


class Address(resource.Resource):
    PROPERTIES = (ADDRESS, LABEL) = ("address", "label")

    properties_schema = {
        ADDRESS: properties.Schema(properties.Schema.STRING, required=True),
        LABEL: properties.Schema(properties.Schema.STRING),
    }

    default_client_name = "fakecloud"

    entity = "things"

    def _take(self, thing_id, address):
        """Give a thing an address, as a service that lets no two of them have one."""
        things = self.client().things
        others = [thing for thing in things.find(address) if thing.id != thing_id]
        if address in [other.properties["address"] for other in others]:
            raise failures.Refused(409, _("%s is in use") % address)
        things.update(thing_id, address=address)

    def handle_create(self):
        made = self.client().things.create(
            self.properties[self.ADDRESS],
            "Address",
            self.stack.name + "/" + self.name,
            label=self.properties[self.LABEL],
            address=None,
        )
        self.resource_id_set(made.id)
        self._take(made.id, self.properties[self.ADDRESS])

    def handle_check(self):
        self._verify_check_conditions(
            [
                {
                    "attr": "address",
                    "expected": self.properties[self.ADDRESS],
                    "current": self._show_resource()["properties"]["address"],
                }
            ]
        )

    def prepare_for_replace(self):
        if self.resource_id is None:
            return
        with self.client_plugin().ignore_not_found:
            things = self.client().things
            self.data_set("had", things.get(self.resource_id).properties["address"])
            things.update(self.resource_id, address=None)

    def restore_prev_rsrc(self, convergence=False):
        if convergence:
            replacement, _owner, _stack = resource.Resource.load(
                self.context,
                self.replaced_by,
                self.stack.current_traversal,
                True,
                self.stack.defn._resource_data,
            )
        else:
            replacement = self.stack._backup_stack().resources.get(self.name)
        if replacement.resource_id:
            self.client().things.update(replacement.resource_id, address=None)
        had = self.data().get("had")
        if had is not None and self.resource_id:
            self._take(self.resource_id, had)


def resource_mapping():
    return {"My::Cloud::Address": Address}
