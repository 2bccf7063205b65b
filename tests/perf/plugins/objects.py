# SPDX-License-Identifier: Apache-2.0
"""An object of the object service, and the service's client, in the manner of Heat's plugins."""

from __future__ import annotations

import os

from heatconv.resources import properties, resource
from heatconv.resources.clients import client_plugin
from tests.perf import object_client


class ObjectsClientPlugin(client_plugin.ClientPlugin):
    exceptions_module = object_client

    def _create(self, version=None):
        return object_client.Client(os.environ["HEATCONV_PERF_OBJECTS"])


class Object(resource.Resource):
    PROPERTIES = (VALUE,) = ("value",)

    properties_schema = {VALUE: properties.Schema(properties.Schema.STRING, default="x")}

    default_client_name = "objects"

    def handle_create(self):
        made = self.client().create(self.physical_resource_name(), self.properties[self.VALUE])
        self.resource_id_set(made["id"])
        return made["id"]

    def check_create_complete(self, object_id):
        return self.client().get(object_id)["status"] == "ACTIVE"

    def handle_delete(self):
        if self.resource_id is None:
            return None
        with self.client_plugin().ignore_not_found:
            self.client().delete(self.resource_id)
            return self.resource_id

    def check_delete_complete(self, object_id):
        if object_id is None:
            return True
        with self.client_plugin().ignore_not_found:
            self.client().get(object_id)
            return False
        return True


def client_mapping():
    return {"objects": ObjectsClientPlugin}


def resource_mapping():
    return {"Perf::Object": Object}
