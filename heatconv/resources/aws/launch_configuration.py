# SPDX-License-Identifier: Apache-2.0
"""AWS::AutoScaling::LaunchConfiguration: what the members of an instance group are made of."""

from __future__ import annotations

import json
from typing import Any

from heatconv.resources import constraints, exception, properties, resource
from heatconv.resources.i18n import _

_schema = properties.Schema

LIKE_A_SERVER = "like_a_server"  #: among the notes: what was taken over of a server


class LaunchConfiguration(resource.Resource):
    """Stands for nothing but its properties: another set of them is another configuration.

    Where there are no services that could tell whether there is such an image, flavor or key,
    that is for those to tell who are made of it.
    """

    only_here = True

    PROPERTIES = (
        IMAGE_ID,
        INSTANCE_TYPE,
        INSTANCE_ID,
        KEY_NAME,
        USER_DATA,
        SECURITY_GROUPS,
        KERNEL_ID,
        RAM_DISK_ID,
        BLOCK_DEVICE_MAPPINGS,
        NOVA_SCHEDULER_HINTS,
    ) = (
        "ImageId",
        "InstanceType",
        "InstanceId",
        "KeyName",
        "UserData",
        "SecurityGroups",
        "KernelId",
        "RamDiskId",
        "BlockDeviceMappings",
        "NovaSchedulerHints",
    )

    DEVICE_NAME, EBS, NO_DEVICE, VIRTUAL_NAME = ("DeviceName", "Ebs", "NoDevice", "VirtualName")
    DELETE_ON_TERMINATION, IOPS, SNAPSHOT_ID, VOLUME_SIZE, VOLUME_TYPE = (
        "DeleteOnTermination",
        "Iops",
        "SnapshotId",
        "VolumeSize",
        "VolumeType",
    )
    KEY, VALUE = ("Key", "Value")

    properties_schema = {
        IMAGE_ID: _schema(
            _schema.STRING,
            _("The image, by id or name."),
            constraints=[constraints.ServiceConstraint("glance.image")],
        ),
        INSTANCE_TYPE: _schema(
            _schema.STRING, _("The flavor."), constraints=[constraints.ServiceConstraint("nova.flavor")]
        ),
        INSTANCE_ID: _schema(
            _schema.STRING,
            _("A server whose image, flavor, key pair and security groups hold if not given."),
            constraints=[constraints.ServiceConstraint("nova.server")],
        ),
        KEY_NAME: _schema(
            _schema.STRING,
            _("The key pair, by name."),
            constraints=[constraints.ServiceConstraint("nova.keypair")],
        ),
        USER_DATA: _schema(_schema.STRING, _("What is passed to a server that boots.")),
        SECURITY_GROUPS: _schema(_schema.LIST, _("The security groups, by name.")),
        KERNEL_ID: _schema(_schema.STRING, _("The kernel."), implemented=False),
        RAM_DISK_ID: _schema(_schema.STRING, _("The RAM disk."), implemented=False),
        BLOCK_DEVICE_MAPPINGS: _schema(
            _schema.LIST,
            _("The volumes of a server."),
            schema=_schema(
                _schema.MAP,
                _("A volume."),
                schema={
                    DEVICE_NAME: _schema(
                        _schema.STRING, _("The name of its device, such as vdb."), required=True
                    ),
                    EBS: _schema(
                        _schema.MAP,
                        _("What the volume is."),
                        schema={
                            DELETE_ON_TERMINATION: _schema(
                                _schema.BOOLEAN, _("Whether it goes with its server."), default=True
                            ),
                            IOPS: _schema(_schema.NUMBER, _("Its operations per second."), implemented=False),
                            SNAPSHOT_ID: _schema(
                                _schema.STRING,
                                _("The snapshot that it is made of."),
                                constraints=[constraints.ServiceConstraint("cinder.snapshot")],
                            ),
                            VOLUME_SIZE: _schema(_schema.STRING, _("Its size in GB.")),
                            VOLUME_TYPE: _schema(_schema.STRING, _("Its type."), implemented=False),
                        },
                    ),
                    NO_DEVICE: _schema(_schema.MAP, _("That there is none."), implemented=False),
                    VIRTUAL_NAME: _schema(_schema.STRING, _("Its other name."), implemented=False),
                },
            ),
        ),
        NOVA_SCHEDULER_HINTS: _schema(
            _schema.LIST,
            _("What the scheduler of the compute service is told."),
            schema=_schema(
                _schema.MAP,
                _("One thing that it is told."),
                schema={
                    KEY: _schema(_schema.STRING, _("What that is about."), required=True),
                    VALUE: _schema(_schema.STRING, _("What it is told."), required=True),
                },
            ),
        ),
    }

    def validate(self) -> Any:
        super().validate()
        given = self.properties
        if not given[self.INSTANCE_ID] and not (given[self.IMAGE_ID] and given[self.INSTANCE_TYPE]):
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties"],
                message=_("Without InstanceId it takes ImageId and InstanceType."),
            )
        for volume in given[self.BLOCK_DEVICE_MAPPINGS] or ():
            if not (volume[self.EBS] or {}).get(self.SNAPSHOT_ID):
                raise exception.StackValidationFailed(
                    path=["resources", self.name, "properties", self.BLOCK_DEVICE_MAPPINGS],
                    message=_("A volume needs Ebs with a SnapshotId."),
                )

    def needs_replace_with_tmpl_diff(self, tmpl_diff: Any) -> bool:
        return bool(tmpl_diff.metadata_changed())

    def handle_create(self) -> None:
        if self.properties[self.INSTANCE_ID]:
            found = like_a_server(self, self.properties[self.INSTANCE_ID])
            self.data_set(LIKE_A_SERVER, json.dumps(found))
        self.resource_id_set(self.physical_resource_name())

    def get_reference_id(self) -> str:
        return self.physical_resource_name_or_FnGetRefId()


def like_a_server(plugin: resource.Resource, server_id: str) -> dict[str, Any]:
    """Return the properties of a configuration that makes more servers like one that is there.

    Raises:
        ClientNotAvailable: there is no compute service to ask.
        EntityNotFound: there is no such server.
    """
    server = plugin.client_plugin("nova").get_server(server_id)
    return {
        LaunchConfiguration.IMAGE_ID: server.image["id"],
        LaunchConfiguration.INSTANCE_TYPE: server.flavor["id"],
        LaunchConfiguration.KEY_NAME: server.key_name,
        LaunchConfiguration.SECURITY_GROUPS: [each["name"] for each in server.security_groups],
    }
