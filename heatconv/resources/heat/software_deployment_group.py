# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::SoftwareDeploymentGroup and its like: one config that is run on some servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from heatconv.model.deferred import is_deferred
from heatconv.resources import attributes, group, properties, support
from heatconv.resources.group_attributes import Of, Path
from heatconv.resources.heat import resource_group
from heatconv.resources.heat.software_deployment import SoftwareDeployment
from heatconv.resources.heat.structured_deployment import StructuredDeployment
from heatconv.resources.i18n import _
from heatconv.resources.rolling import Pace

_schema = properties.Schema
_attribute = attributes.Schema

_SERVERS = _schema(
    _schema.MAP,
    _("The ids of the servers to run it on, by names that its deployments get."),
    required=True,
    update_allowed=True,
)
_POLICY = {"max_batch_size": resource_group.batch_size, "pause_time": resource_group.pause}


class SoftwareDeploymentGroup(group.Group):
    """A deployment for each of some servers; an attribute is a map of theirs, by the servers' names."""

    support_status = support.SupportStatus(version="5.0.0")

    MEMBER_TYPE: ClassVar[str] = "OS::Heat::SoftwareDeployment"
    SERVERS = "servers"
    ROLLING_UPDATE, BATCH_CREATE = ("rolling_update", "batch_create")

    #: Which attribute of a deployment each one of the group's is made of.
    ATTRIBUTES_OF: ClassVar = {
        "deploy_stdouts": SoftwareDeployment.STDOUT,
        "deploy_stderrs": SoftwareDeployment.STDERR,
        "deploy_status_codes": SoftwareDeployment.STATUS_CODE,
    }

    properties_schema = {
        SERVERS: _SERVERS,
        **{
            name: schema
            for name, schema in SoftwareDeployment.properties_schema.items()
            if name != SoftwareDeployment.SERVER
        },
    }

    attributes_schema = {
        "deploy_stdouts": _attribute(_("What each run wrote to its standard output."), type=_attribute.MAP),
        "deploy_stderrs": _attribute(_("What each run wrote to its standard error."), type=_attribute.MAP),
        "deploy_status_codes": _attribute(_("The exit code of each run."), type=_attribute.MAP),
    }

    update_policy_schema = {
        ROLLING_UPDATE: _schema(
            _schema.MAP,
            _("How deployments are changed in batches."),
            schema=_POLICY,
            support_status=support.SupportStatus(version="7.0.0"),
        ),
        BATCH_CREATE: _schema(
            _schema.MAP,
            _("How deployments are made in batches."),
            schema=_POLICY,
            support_status=support.SupportStatus(version="7.0.0"),
        ),
    }

    @classmethod
    def size_made(cls, properties: Mapping[str, Any]) -> int:
        servers = properties.get(cls.SERVERS)
        return len(servers) if isinstance(servers, Mapping) and not is_deferred(servers) else 0

    def member_names(self) -> list[str]:
        return list(self.properties[self.SERVERS])

    def member(self, name: str) -> group.Snippet:
        given = {key: value for key, value in self.properties.data.items() if value is not None}
        server = given.pop(self.SERVERS)[name]
        return {"type": self.MEMBER_TYPE, "properties": {**given, SoftwareDeployment.SERVER: server}}

    def creating(self) -> Pace | None:
        return group.pace_of(self.update_policy[self.BATCH_CREATE])

    def updating(self) -> Pace | None:
        return group.pace_of(self.update_policy[self.ROLLING_UPDATE])

    def attribute_of_members(self, names: Sequence[str], attribute: str, path: Path, of: Of) -> Any:
        inner = self.ATTRIBUTES_OF.get(attribute, attribute)
        if not path:
            return {name: of(name, inner, ()) for name in names}
        name = str(path[0])
        return of(name, inner, path[1:]) if name in names else None


class StructuredDeploymentGroup(SoftwareDeploymentGroup):
    """A structured deployment for each of some servers."""

    MEMBER_TYPE: ClassVar[str] = "OS::Heat::StructuredDeployment"

    properties_schema = {
        "servers": _SERVERS,
        **{
            name: schema
            for name, schema in StructuredDeployment.properties_schema.items()
            if name != StructuredDeployment.SERVER
        },
    }


def _older(name: str, class_: type) -> support.SupportStatus:
    return support.SupportStatus(
        status=support.HIDDEN,
        message=_("Please use %s instead.") % name,
        version="7.0.0",
        previous_status=support.SupportStatus(status=support.DEPRECATED, version="2014.2"),
        substitute_class=class_,
    )


class SoftwareDeployments(SoftwareDeploymentGroup):
    """The same by an older name."""

    support_status = _older("OS::Heat::SoftwareDeploymentGroup", SoftwareDeploymentGroup)


class StructuredDeployments(StructuredDeploymentGroup):
    """The same by an older name."""

    support_status = _older("OS::Heat::StructuredDeploymentGroup", StructuredDeploymentGroup)
