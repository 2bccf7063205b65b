# SPDX-License-Identifier: Apache-2.0
"""Who may do what with software configs, and with their deployments on servers."""

from __future__ import annotations

from heatconv.api.policies.base import MEMBER, NOBODY, READER, READER_OR_STACK_USER, rule

_CONFIGS = "/software_configs"
_CONFIG = _CONFIGS + "/{config_id}"
_DEPLOYMENTS = "/software_deployments"
_DEPLOYMENT = _DEPLOYMENTS + "/{deployment_id}"

_OF_CONFIGS = [
    rule("software_configs:index", READER, "List software configs.", f"GET {_CONFIGS}"),
    rule("software_configs:global_index", NOBODY, "List those of all projects.", f"GET {_CONFIGS}"),
    rule("software_configs:create", MEMBER, "Create a software config.", f"POST {_CONFIGS}"),
    rule("software_configs:show", READER, "Show a software config.", f"GET {_CONFIG}"),
    rule("software_configs:delete", MEMBER, "Delete a software config.", f"DELETE {_CONFIG}"),
]

_OF_DEPLOYMENTS = [
    rule("software_deployments:index", READER, "List deployments.", f"GET {_DEPLOYMENTS}"),
    rule("software_deployments:create", MEMBER, "Create a deployment.", f"POST {_DEPLOYMENTS}"),
    rule("software_deployments:show", READER, "Show a deployment.", f"GET {_DEPLOYMENT}"),
    rule("software_deployments:update", MEMBER, "Update a deployment.", f"PUT {_DEPLOYMENT}"),
    rule("software_deployments:delete", MEMBER, "Delete a deployment.", f"DELETE {_DEPLOYMENT}"),
    rule(
        "software_deployments:metadata",
        READER_OR_STACK_USER,
        "Show the configs that a server is to have.",
        f"GET {_DEPLOYMENTS}/metadata/{{server_id}}",
    ),
]

RULES = [*_OF_CONFIGS, *_OF_DEPLOYMENTS]
