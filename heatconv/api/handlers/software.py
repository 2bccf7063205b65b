# SPDX-License-Identifier: Apache-2.0
"""Software configs, and their deployments on servers."""

from __future__ import annotations

from http import HTTPStatus

from heatconv.api.call import NO_CONTENT, Answer, Call
from heatconv.api.contract import takes
from heatconv.api.schemas import software as schemas
from heatconv.rpc.engine_client import Json

_SUMMARY = ("id", "name", "group")
_CONTENT = ("config", "inputs", "outputs", "options")
_DEPLOYMENT = (
    *("id", "server_id", "config_id", "input_values", "output_values"),
    *("action", "status", "status_reason"),
)


# -- configs ---------------------------------------------------------------------------


@takes(query=schemas.LIST_CONFIGS)
def list_configs(call: Call) -> Answer:
    """List software configs, the newest first, a page at a time."""
    of_all = call.query["global_tenant"]
    query = {
        "limit": call.query["limit"] or None,
        "marker": call.query["marker"],
        "all_projects": of_all,
    }
    rows = call.engine.list_software_configs(call.context, query)
    return Answer({"software_configs": [_summary(row, with_project=of_all) for row in rows]})


@takes(body=schemas.CONFIG)
def create_config(call: Call) -> Answer:
    """Store a software config."""
    return Answer({"software_config": _config(call.engine.create_software_config(call.context, call.body))})


def show_config(call: Call, config_id: str) -> Answer:
    """Show a software config."""
    return Answer({"software_config": _config(call.engine.show_software_config(call.context, config_id))})


@takes(answers=HTTPStatus.NO_CONTENT)
def delete_config(call: Call, config_id: str) -> Answer:
    """Delete a software config that no deployment refers to."""
    call.engine.delete_software_config(call.context, config_id)
    return NO_CONTENT


# -- deployments -------------------------------------------------------------------------


@takes(query=schemas.LIST_DEPLOYMENTS)
def list_deployments(call: Call) -> Answer:
    """List software deployments, the oldest first."""
    rows = call.engine.list_software_deployments(call.context, call.query["server_id"])
    return Answer({"software_deployments": [_deployment(row) for row in rows]})


@takes(body=schemas.DEPLOYMENT)
def create_deployment(call: Call) -> Answer:
    """Deploy a software config on a server."""
    row = call.engine.create_software_deployment(call.context, call.body)
    return Answer({"software_deployment": _deployment(row)})


def show_deployment(call: Call, deployment_id: str) -> Answer:
    """Show a software deployment."""
    row = call.engine.show_software_deployment(call.context, deployment_id)
    return Answer({"software_deployment": _deployment(row)})


@takes(body=schemas.DEPLOYMENT_UPDATE)
def update_deployment(call: Call, deployment_id: str) -> Answer:
    """Change what the body names of a software deployment: how it went, or what it deploys."""
    row = call.engine.update_software_deployment(call.context, deployment_id, call.body)
    return Answer({"software_deployment": _deployment(row)})


@takes(answers=HTTPStatus.NO_CONTENT)
def delete_deployment(call: Call, deployment_id: str) -> Answer:
    """Delete a software deployment."""
    call.engine.delete_software_deployment(call.context, deployment_id)
    return NO_CONTENT


def metadata(call: Call, server_id: str) -> Answer:
    """Show the software configs that a server is to have, by name."""
    rows = call.engine.list_deployed_configs(call.context, server_id)
    return Answer({"metadata": [_config(row) for row in rows]})


# -- under Heat's keys -------------------------------------------------------------------


def _summary(row: Json, *, with_project: bool = False) -> Json:
    view = {key: row[key] for key in _SUMMARY} | {"creation_time": row["created_at"]}
    return view | {"project": row["project"]} if with_project else view


def _config(row: Json) -> Json:
    return _summary(row) | {key: row[key] for key in _CONTENT}


def _deployment(row: Json) -> Json:
    view = {key: row[key] for key in _DEPLOYMENT} | {"creation_time": row["created_at"]}
    return view | {"updated_time": row["updated_at"]} if row["updated_at"] else view
