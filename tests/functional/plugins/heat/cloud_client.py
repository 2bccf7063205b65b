# SPDX-License-Identifier: Apache-2.0
"""The fake cloud as a service with a client plugin."""

import os

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import client_plugin
from heat.engine import constraints

from heatconv.testing import cloud_client
from heatconv.testing import failures

CLIENT_NAME = "fakecloud"


class Thing(object):
    def __init__(self, found):
        self._found = found
        self.id = found["id"]
        self.status = found["status"]
        self.properties = found["properties"]

    def to_dict(self):
        return self._found


class Things(object):
    """The one collection of the cloud, by the verbs that clients have."""

    def __init__(self, cloud, project):
        self._cloud = cloud
        self._project = project

    def create(self, name, kind, owner, wait=None, **properties):
        properties["project"] = self._project
        return Thing(self._cloud.create(name, kind, owner, properties, wait))

    def get(self, thing_id):
        return Thing(self._cloud.show(thing_id))

    def find(self, name, kind=None):
        return [Thing(found) for found in self._cloud.find(name, kind)]

    def update(self, thing_id, wait=None, **properties):
        return Thing(self._cloud.update(thing_id, properties, wait))

    def delete(self, thing_id):
        self._cloud.delete(thing_id)


class FakeCloud(object):
    def __init__(self, url, project):
        self.things = Things(cloud_client.connect(url), project)


class FakeCloudClientPlugin(client_plugin.ClientPlugin):
    exceptions_module = failures

    service_types = [COMPUTE] = ["fake-compute"]

    supported_versions = [V1, V2] = ["1", "2"]

    default_version = V1

    def _create(self, version=None):
        return FakeCloud(os.environ["HEATCONV_FAKE_CLOUD"], self.context.project_id)

    def is_not_found(self, ex):
        return isinstance(ex, (failures.Refused, exception.NotFound)) and getattr(ex, "status", 404) == 404

    def is_over_limit(self, ex):
        return isinstance(ex, failures.Refused) and ex.status == 413

    def is_conflict(self, ex):
        return isinstance(ex, failures.Refused) and ex.status == 409

    def find_thing(self, name_or_id):
        try:
            return self.client().things.get(name_or_id).id
        except Exception as ex:
            self.ignore_not_found(ex)
        found = self.client().things.find(name_or_id)
        if not found:
            raise exception.EntityNotFound(entity="Thing", name=name_or_id)
        if len(found) > 1:
            raise exception.PhysicalResourceNameAmbiguity(name=name_or_id)
        return found[0].id


class ThingConstraint(constraints.BaseCustomConstraint):
    resource_client_name = CLIENT_NAME
    resource_getter_name = "find_thing"


class ColourConstraint(constraints.BaseCustomConstraint):
    def validate(self, value, context):
        self._error_message = _("%s is no colour.") % value
        return value in ("red", "green", "blue")

    def error(self, value):
        return self._error_message


def client_mapping():
    return {CLIENT_NAME: FakeCloudClientPlugin}


def constraint_mapping():
    return {"fakecloud.thing": ThingConstraint, "fakecloud.colour": ColourConstraint}
