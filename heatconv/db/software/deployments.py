# SPDX-License-Identifier: Apache-2.0
"""Software deployments.

Every query here is scoped to a project: those that read in ``_visible``, those
that write in ``_owned``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.convergence import project_quota
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import reading, writing
from heatconv.db.plumbing.types import utcnow
from heatconv.db.software import configs
from heatconv.db.software.configs import Quotas
from heatconv.db.tables import resource, software_config, software_deployment
from heatconv.model.software import SoftwareConfig, SoftwareDeployment
from heatconv.model.states import Status

#: What tells one run of a deployment from another, and how it goes.
_RUN = ("config_id", "input_values", "action", "status", "status_reason")


def _owned(project_id: str) -> sa.ColumnElement[bool]:
    """The deployments that a project's members may change: its own."""
    return software_deployment.c.project_id == project_id


def _visible(project_id: str) -> sa.ColumnElement[bool]:
    """The deployments that a project's members may know of: its own, and those its servers' users see.

    Which project the servers' users are of is the service's to say, never a request's:
    an agent runs whatever its project sees on its server.
    """
    return sa.or_(_owned(project_id), software_deployment.c.stack_user_project_id == project_id)


@reading
def list_deployments(
    connection: Connection, project_id: str, server_id: str | None = None
) -> list[SoftwareDeployment]:
    """Return a project's deployments, all or those on a server, the oldest first."""
    query = sa.select(software_deployment).where(_visible(project_id))
    if server_id is not None:
        query = query.where(software_deployment.c.server_id == server_id)
    query = query.order_by(software_deployment.c.created_at, software_deployment.c.id)
    return [_record(row) for row in connection.execute(query)]


@reading
def list_deployed_configs(connection: Connection, project_id: str, server_id: str) -> list[SoftwareConfig]:
    """Return the configs that are deployed on a server, by name."""
    query = (
        sa.select(software_config)
        .join(software_deployment, software_deployment.c.config_id == software_config.c.id)
        .where(software_deployment.c.server_id == server_id, _visible(project_id))
        .order_by(software_config.c.name, software_deployment.c.created_at, software_deployment.c.id)
    )
    return [configs.record(row) for row in connection.execute(query)]


@reading
def find_deployment(connection: Connection, project_id: str, deployment_id: str) -> SoftwareDeployment | None:
    """Return a project's deployment."""
    return _find(connection, project_id, deployment_id)


@reading
def get_deployment(connection: Connection, project_id: str, deployment_id: str) -> SoftwareDeployment:
    """Return a project's deployment.

    Raises:
        NotFound: there is none.
    """
    return _get(connection, project_id, deployment_id)


@reading
def rows_of(connection: Connection, deployment_id: str) -> list[str]:
    """Return the ids of the resource rows that stand for a deployment."""
    return list(connection.scalars(sa.select(resource.c.id).where(resource.c.physical_id == deployment_id)))


@deciding
def add_deployment(
    connection: Connection, project_id: str, deployment: SoftwareDeployment, quotas: Quotas
) -> SoftwareDeployment:
    """Store a deployment of a config of the project, and return it.

    Raises:
        NotFound: there is no such config.
        RequestLimitExceeded: the project has as many as it may.
    """
    configs.lock(connection, project_id, deployment.config_id)
    _insert(connection, project_id, deployment)
    _take(connection, project_id, deployment, quotas)
    return _get(connection, project_id, deployment.id)


@deciding
def change_deployment(
    connection: Connection, project_id: str, deployment_id: str, values: Mapping[str, Any]
) -> SoftwareDeployment:
    """Set what is given of a deployment, whatever it was, and return it.

    Raises:
        NotFound: there is no such deployment, or no such config.
    """
    if "config_id" in values:
        configs.lock(connection, project_id, values["config_id"])
    if not _update(connection, project_id, deployment_id, values):
        raise _not_found(deployment_id)
    return _get(connection, project_id, deployment_id)


@deciding
def try_finish(
    connection: Connection, project_id: str, run: SoftwareDeployment, values: Mapping[str, Any]
) -> bool:
    """Note how a run of a deployment ended, WHERE it goes on and is of the config that was read."""
    goes_on = (
        software_deployment.c.config_id == run.config_id,
        software_deployment.c.status == Status.IN_PROGRESS,
    )
    return _update(connection, project_id, run.id, values, *goes_on)


@writing
def deploy(
    connection: Connection,
    project_id: str,
    wanted: SoftwareDeployment,
    config: SoftwareConfig,
    quotas: Quotas,
) -> None:
    """Let a deployment run a derived config, unless that is what it runs, or ran without failing.

    What the deployment had derived for its last run goes.

    Concurrency: the deployment's row is locked first, and all of it is one
    transaction: whoever does it again after a crash finds all of it or nothing.

    Raises:
        RequestLimitExceeded: the project has as many deployments or configs as it may.
    """
    now = _find(connection, project_id, wanted.id, for_update=True)
    if now is None:
        configs.insert(connection, project_id, config)
        _insert(connection, project_id, wanted)
        configs.take(connection, project_id, config, quotas)
        _take(connection, project_id, wanted, quotas)
        return
    if now.status != Status.FAILED and _run(connection, project_id, now) == config.run:
        return
    configs.insert(connection, project_id, config)
    values = {key: getattr(wanted, key) for key in _RUN}
    _update(connection, project_id, wanted.id, values)
    if not configs.try_drop_derived(connection, project_id, now.config_id):
        configs.take(connection, project_id, config, quotas)


@deciding
def delete_deployment(connection: Connection, project_id: str, deployment_id: str) -> None:
    """Delete a deployment, and what it had derived.

    Raises:
        NotFound: there is no such deployment.
    """
    gone = _get(connection, project_id, deployment_id, for_update=True)
    connection.execute(sa.delete(software_deployment).where(software_deployment.c.id == deployment_id))
    configs.try_drop_derived(connection, project_id, gone.config_id)


# -- parts of a transaction ----------------------------------------------------------------


def _record(row: Any) -> SoftwareDeployment:
    row = Opened(software_deployment, row)
    return SoftwareDeployment(
        id=row.id,
        server_id=row.server_id,
        output_values=row.output_values,
        stack_user_project_id=row.stack_user_project_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        **{key: getattr(row, key) for key in _RUN},
    )


def _find(
    connection: Connection, project_id: str, deployment_id: str, *, for_update: bool = False
) -> SoftwareDeployment | None:
    mine = _owned(project_id) if for_update else _visible(project_id)
    query = sa.select(software_deployment).where(software_deployment.c.id == deployment_id, mine)
    row = connection.execute(query.with_for_update() if for_update else query).one_or_none()
    return None if row is None else _record(row)


def _get(
    connection: Connection, project_id: str, deployment_id: str, *, for_update: bool = False
) -> SoftwareDeployment:
    found = _find(connection, project_id, deployment_id, for_update=for_update)
    if found is None:
        raise _not_found(deployment_id)
    return found


def _not_found(deployment_id: str) -> errors.NotFound:
    return errors.NotFound(entity="Software Deployment", name=deployment_id)


def _take(connection: Connection, project_id: str, deployment: SoftwareDeployment, quotas: Quotas) -> None:
    project_quota.take(connection, software_deployment, project_id, deployment.id, quotas.deployments)


def _insert(connection: Connection, project_id: str, deployment: SoftwareDeployment) -> None:
    connection.execute(
        sa.insert(software_deployment).values(
            placed(
                software_deployment,
                {
                    "id": deployment.id,
                    "project_id": project_id,
                    "stack_user_project_id": deployment.stack_user_project_id,
                    "server_id": deployment.server_id,
                    "created_at": utcnow(),
                    **{key: getattr(deployment, key) for key in _RUN},
                },
            )
        )
    )


def _update(
    connection: Connection,
    project_id: str,
    deployment_id: str,
    values: Mapping[str, Any],
    *where: sa.ColumnElement[bool],
) -> bool:
    key = {"id": deployment_id, "project_id": project_id}
    mine = software_deployment.c.id == deployment_id, _owned(project_id)
    changes = {**placed(software_deployment, {**values, **key}), "updated_at": utcnow()}
    return (
        connection.execute(sa.update(software_deployment).where(*mine, *where).values(changes)).rowcount == 1
    )


def _run(connection: Connection, project_id: str, deployment: SoftwareDeployment) -> str | None:
    """Return what a deployment runs, or ran: the digest that its derived config has of it."""
    return configs.get(connection, project_id, deployment.config_id).run
