# SPDX-License-Identifier: Apache-2.0
"""Which function answers which request: one table.

Below ``/v1/{project}``.  A URL with both a stack's name and its id denotes
that stack; one with a name only leads there by redirect.
"""

from __future__ import annotations

from collections.abc import Mapping

from heatconv.api.call import Handler
from heatconv.api.handlers import events, outputs, resources, services, stacks, templates, types

VERSIONS = ("/v1", "/v1.0")

_NAME = "/stacks/{stack_name}"
_STACK = "/stacks/{stack_name}/{stack_id}"
_RESOURCE = _STACK + "/resources/{resource_name}"

_LOOKUP: Mapping[str, Handler] = dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), stacks.lookup)

ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/stacks": {"GET": stacks.index, "POST": stacks.create},
    "/stacks/detail": {"GET": stacks.index},
    "/stacks/preview": {"POST": stacks.preview_create},
    "/validate": {"POST": templates.validate},
    _NAME: _LOOKUP,
    _NAME + "/resources": {"GET": stacks.lookup, "POST": stacks.lookup},
    _NAME + "/events": {"GET": stacks.lookup, "POST": stacks.lookup},
    _NAME + "/template": {"GET": stacks.lookup, "POST": stacks.lookup},
    _NAME + "/actions": {"GET": stacks.lookup, "POST": stacks.lookup},
    _NAME + "/environment": {"GET": stacks.lookup},
    _NAME + "/files": {"GET": stacks.lookup},
    _STACK: {"GET": stacks.show, "PUT": stacks.update, "PATCH": stacks.patch, "DELETE": stacks.delete},
    _STACK + "/{arn_id}": dict.fromkeys(_LOOKUP, stacks.lookup_arn),
    _STACK + "/preview": {"PUT": stacks.preview_update, "PATCH": stacks.preview_patch},
    _STACK + "/template": {"GET": stacks.template},
    _STACK + "/environment": {"GET": stacks.environment},
    _STACK + "/files": {"GET": stacks.files},
    _STACK + "/graph": {"GET": stacks.graph},
    _STACK + "/actions": {"POST": stacks.act},
    _STACK + "/outputs": {"GET": outputs.index},
    _STACK + "/outputs/{output_key}": {"GET": outputs.show},
    _STACK + "/resources": {"GET": resources.index},
    _RESOURCE: {"GET": resources.show},
    _RESOURCE + "/metadata": {"GET": resources.metadata},
    _RESOURCE + "/events": {"GET": events.index_of_resource},
    _RESOURCE + "/events/{event_id}": {"GET": events.show},
    _STACK + "/events": {"GET": events.index},
    "/resource_types": {"GET": types.index},
    "/resource_types/{type_name}": {"GET": types.show},
    "/template_versions": {"GET": templates.versions},
    "/template_versions/{version}/functions": {"GET": templates.functions},
    "/build_info": {"GET": services.build_info},
    "/services": {"GET": services.index},
}
