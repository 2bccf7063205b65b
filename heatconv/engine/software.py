# SPDX-License-Identifier: Apache-2.0
"""Software configs and deployments, as users ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heatconv import errors
from heatconv.db.plumbing.requests import answer_with
from heatconv.db.plumbing.session import Database
from heatconv.db.software import configs, deployments
from heatconv.db.software.configs import Quotas
from heatconv.engine import views
from heatconv.model.ids import new_id
from heatconv.model.software import SoftwareConfig, SoftwareDeployment
from heatconv.model.states import Action, Status
from heatconv.resources.heat import software_io
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]

#: What a request may change of a deployment.
_CHANGEABLE = ("config_id", "input_values", "output_values", "action", "status", "status_reason")


class Software:
    """Takes what users ask of configs and deployments."""

    def __init__(self, *, database: Database, quotas: Quotas, wake: Callable[[str], None]) -> None:
        """Keep what is handed in; ``wake`` tells the workers that something happened to a row."""
        self._database = database
        self._quotas = quotas
        self._wake = wake

    # -- configs ----------------------------------------------------------------------------

    def list_software_configs(self, context: RequestContext, query: Mapping[str, Any]) -> list[Json]:
        """Return a page of configs without what is in them, the newest first."""
        project = None if query.get("all_projects") else context.project_id
        found = configs.list_configs(
            self._database, project, limit=query.get("limit"), marker=query.get("marker")
        )
        return [_summary(config) for config in found]

    def create_software_config(self, context: RequestContext, values: Mapping[str, Any]) -> Json:
        """Store a config and return it."""
        config = SoftwareConfig(
            id=new_id(),
            name=values.get("name"),
            group=values.get("group"),
            config=values.get("config"),
            inputs=software_io.inputs(values.get("inputs")),
            outputs=software_io.outputs(values.get("outputs")),
            options=values.get("options"),
        )
        answer_with(_config)
        return _config(configs.add_config(self._database, context.project_id, config, self._quotas))

    def show_software_config(self, context: RequestContext, config: str) -> Json:
        """Return a config."""
        return _config(configs.get_config(self._database, context.project_id, config))

    def delete_software_config(self, context: RequestContext, config: str) -> None:
        """Delete a config that is not deployed."""
        configs.delete_config(self._database, context.project_id, config)

    # -- deployments --------------------------------------------------------------------------

    def list_software_deployments(self, context: RequestContext, server: str | None) -> list[Json]:
        """Return the deployments, all or those on a server."""
        found = deployments.list_deployments(self._database, context.project_id, server)
        return [_deployment(deployment) for deployment in found]

    def list_deployed_configs(self, context: RequestContext, server: str) -> list[Json]:
        """Return what is deployed on a server, by name."""
        found = deployments.list_deployed_configs(self._database, context.project_id, server)
        return [_config(config) for config in found]

    def create_software_deployment(self, context: RequestContext, values: Mapping[str, Any]) -> Json:
        """Store a deployment and return it.

        Raises:
            Forbidden: another project than the caller's is to see it.
        """
        _check_project(context, values.get("stack_user_project_id"))
        wanted = SoftwareDeployment(
            id=new_id(),
            server_id=values["server_id"],
            config_id=values["config_id"],
            input_values=values.get("input_values"),
            action=values.get("action") or Action.INIT,
            status=values.get("status") or Status.COMPLETE,
            status_reason=values.get("status_reason") or "",
        )
        answer_with(_deployment)
        return _deployment(
            deployments.add_deployment(self._database, context.project_id, wanted, self._quotas)
        )

    def show_software_deployment(self, context: RequestContext, deployment: str) -> Json:
        """Return a deployment."""
        return _deployment(deployments.get_deployment(self._database, context.project_id, deployment))

    def update_software_deployment(
        self, context: RequestContext, deployment: str, values: Mapping[str, Any]
    ) -> Json:
        """Change a deployment, wake the resource that waits for its end, and return it."""
        given = {key: values[key] for key in _CHANGEABLE if values.get(key) is not None}
        answer_with(_deployment)
        changed = deployments.change_deployment(self._database, context.project_id, deployment, given)
        for row_id in deployments.rows_of(self._database, deployment):
            self._wake(row_id)
        return _deployment(changed)

    def delete_software_deployment(self, context: RequestContext, deployment: str) -> None:
        """Delete a deployment."""
        deployments.delete_deployment(self._database, context.project_id, deployment)


def deployed_on(database: Database, project_id: str, server_id: str) -> list[Json]:
    """Return what is deployed on a server as its agent reads it among a resource's metadata."""
    found = deployments.list_deployed_configs(database, project_id, server_id)
    return [
        {
            "id": config.id,
            "name": config.name,
            "group": config.group,
            "creation_time": views.time(config.created_at),
            **_content(config),
        }
        for config in found
    ]


def _check_project(context: RequestContext, project: str | None) -> None:
    """Refuse to show a deployment to a project that the caller does not act in: its servers would run it."""
    if project and project != context.project_id:
        raise errors.Forbidden(
            f"'stack_user_project_id' names project {project}, and you act in project {context.project_id}:"
            " leave it out, or name your own; no other project is shown what you deploy."
        )


def _summary(config: SoftwareConfig) -> Json:
    return {
        "id": config.id,
        "name": config.name,
        "group": config.group,
        "project": config.project_id,
        "created_at": views.time(config.created_at),
    }


def _config(config: SoftwareConfig) -> Json:
    return _summary(config) | _content(config)


def _content(config: SoftwareConfig) -> Json:
    return {
        "config": config.config,
        "inputs": list(config.inputs),
        "outputs": list(config.outputs),
        "options": config.options,
    }


def _deployment(deployment: SoftwareDeployment) -> Json:
    return {
        "id": deployment.id,
        "server_id": deployment.server_id,
        "config_id": deployment.config_id,
        "input_values": deployment.input_values,
        "output_values": deployment.output_values,
        "action": deployment.action,
        "status": deployment.status,
        "status_reason": deployment.status_reason,
        "created_at": views.time(deployment.created_at),
        "updated_at": views.time(deployment.updated_at),
    }
