# SPDX-License-Identifier: Apache-2.0
"""Which function answers which request: one table.

Below ``/v1/{project}``.  A URL with both a stack's name and its id denotes
that stack; one with a name only leads there by redirect.
"""

from __future__ import annotations

from collections.abc import Mapping

from heatconv.api.call import Handler
from heatconv.api.handlers import (
    actions,
    changes,
    events,
    lookup,
    notifications,
    outputs,
    plans,
    resources,
    services,
    snapshots,
    software,
    stacks,
    templates,
    types,
)

VERSIONS = ("/v1", "/v1.0")

_NAME = "/stacks/{stack_name}"
_STACK = "/stacks/{stack_name}/{stack_id}"
_RESOURCE = _STACK + "/resources/{resource_name}"
_PLAN = "/plans/{plan_id}"
_SNAPSHOT = _STACK + "/snapshots/{snapshot_id}"

#: A stack told by its identifier; whatever comes below it leads to the same place below the stack.
ARN = _STACK + "/{arn_id}"

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/stacks": {"GET": stacks.index, "POST": stacks.create},
    "/stacks/detail": {"GET": stacks.detail},
    "/stacks/preview": {"POST": stacks.preview_create},
    "/validate": {"POST": templates.validate},
    _NAME: dict.fromkeys(_METHODS, lookup.by_name),
    _NAME + "/resources": {"GET": lookup.by_name, "POST": lookup.by_name},
    _NAME + "/events": {"GET": lookup.by_name, "POST": lookup.by_name},
    _NAME + "/template": {"GET": lookup.by_name, "POST": lookup.by_name},
    _NAME + "/actions": {"GET": lookup.by_name, "POST": lookup.by_name},
    _NAME + "/environment": {"GET": lookup.by_name},
    _NAME + "/files": {"GET": lookup.by_name},
    _STACK: {"GET": stacks.show, "PUT": stacks.update, "PATCH": stacks.patch, "DELETE": stacks.delete},
    ARN: dict.fromkeys(_METHODS, lookup.by_arn),
    _STACK + "/preview": {"PUT": stacks.preview_update, "PATCH": stacks.preview_patch},
    _STACK + "/abandon": {"DELETE": stacks.abandon},
    _STACK + "/export": {"GET": stacks.export},
    _STACK + "/template": {"GET": stacks.template},
    _STACK + "/environment": {"GET": stacks.environment},
    _STACK + "/files": {"GET": stacks.files},
    _STACK + "/graph": {"GET": stacks.graph},
    _STACK + "/drift": {"GET": stacks.drift},
    _STACK + "/explanation": {"GET": stacks.explanation},
    _STACK + "/picture": {"GET": stacks.picture},
    _STACK + "/changes": {"GET": changes.index},
    _STACK + "/actions": {"POST": actions.act},
    _STACK + "/outputs": {"GET": outputs.index},
    _STACK + "/outputs/{output_key}": {"GET": outputs.show},
    _STACK + "/snapshots": {"GET": snapshots.index, "POST": snapshots.create},
    _SNAPSHOT: {"GET": snapshots.show, "DELETE": snapshots.delete},
    _SNAPSHOT + "/restore": {"POST": snapshots.restore},
    "/plans": {"GET": plans.index, "POST": plans.create},
    _PLAN: {"GET": plans.show, "DELETE": plans.delete},
    _PLAN + "/apply": {"POST": plans.apply},
    _STACK + "/plans": {"GET": plans.index_of_stack, "POST": plans.create_of_stack},
    _STACK + _PLAN: {"GET": plans.show_of_stack, "DELETE": plans.delete_of_stack},
    _STACK + _PLAN + "/apply": {"POST": plans.apply_of_stack},
    _STACK + "/resources": {"GET": resources.index},
    _RESOURCE: {"GET": resources.show, "PATCH": resources.mark},
    _RESOURCE + "/metadata": {"GET": resources.metadata},
    # What AWS's tools report to a wait condition comes by PUT.
    _RESOURCE + "/signal": {"POST": resources.signal, "PUT": resources.signal},
    _RESOURCE + "/actions": {"POST": resources.act},
    _RESOURCE + "/drift": {"GET": resources.drift},
    _RESOURCE + "/events": {"GET": events.index_of_resource},
    _RESOURCE + "/events/{event_id}": {"GET": events.show},
    _STACK + "/events": {"GET": events.index},
    "/notifications": {"POST": notifications.create},
    "/software_configs": {"GET": software.list_configs, "POST": software.create_config},
    "/software_configs/{config_id}": {"GET": software.show_config, "DELETE": software.delete_config},
    "/software_deployments": {"GET": software.list_deployments, "POST": software.create_deployment},
    "/software_deployments/metadata/{server_id}": {"GET": software.metadata},
    "/software_deployments/{deployment_id}": {
        "GET": software.show_deployment,
        "PUT": software.update_deployment,
        "DELETE": software.delete_deployment,
    },
    "/resource_types": {"GET": types.index},
    "/resource_types/{type_name}": {"GET": types.show},
    "/resource_types/{type_name}/template": {"GET": types.template},
    "/template_versions": {"GET": templates.versions},
    "/template_versions/{version}/functions": {"GET": templates.functions},
    "/permissions": {"GET": services.permissions},
    "/build_info": {"GET": services.build_info},
    "/services": {"GET": services.index},
    "/services/work": {"GET": services.work},
}
