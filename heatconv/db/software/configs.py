# SPDX-License-Identifier: Apache-2.0
"""Software configs.

Every query here is scoped to a project in one place, ``_visible``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.convergence import project_quota
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import reading
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import software_config, software_deployment
from heatconv.model.software import SoftwareConfig

#: What of a config is kept in one column.
_CONTENT = ("config", "inputs", "outputs", "options", "run")


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """How many configs and deployments a project may have; -1 is no limit."""

    configs: int = -1
    deployments: int = -1


UNLIMITED = Quotas()


def _visible(project_id: str | None) -> sa.ColumnElement[bool]:
    """The configs that a project's members may know of; None stands for all projects."""
    return sa.true() if project_id is None else software_config.c.project_id == project_id


@reading
def list_configs(
    connection: Connection, project_id: str | None, *, limit: int | None = None, marker: str | None = None
) -> list[SoftwareConfig]:
    """Return a page of a project's configs, the newest first."""
    order = (software_config.c.created_at, software_config.c.id)
    query = sa.select(software_config).where(_visible(project_id))
    if marker is not None:
        at = sa.select(*order).where(software_config.c.id == marker, _visible(project_id))
        query = query.where(sa.tuple_(*order) < at.scalar_subquery())
    query = query.order_by(*(column.desc() for column in order)).limit(limit)
    return [record(row) for row in connection.execute(query)]


@reading
def get_config(connection: Connection, project_id: str, config_id: str) -> SoftwareConfig:
    """Return a project's config.

    Raises:
        NotFound: there is none.
    """
    return get(connection, project_id, config_id)


@deciding
def add_config(
    connection: Connection, project_id: str, config: SoftwareConfig, quotas: Quotas
) -> SoftwareConfig:
    """Store a config, unless it is stored already, and return it.

    Raises:
        RequestLimitExceeded: the project has as many as it may.
    """
    if _find(connection, project_id, config.id) is None:
        insert(connection, project_id, config)
        take(connection, project_id, config, quotas)
    return get(connection, project_id, config.id)


@deciding
def delete_config(connection: Connection, project_id: str, config_id: str) -> None:
    """Delete a config, WHERE no deployment refers to it.

    Concurrency: the config's row is locked first, as it is by whoever lets a
    deployment refer to it.

    Raises:
        NotFound: there is none.
        Conflict: a deployment refers to it.
    """
    lock(connection, project_id, config_id)
    if not _try_delete(connection, config_id):
        raise errors.Conflict(
            f"The Software Config ({config_id}) is deployed; delete the deployments that refer to it first."
        )


# -- parts of a transaction ----------------------------------------------------------------


def record(row: Any) -> SoftwareConfig:
    """Return the record of a row of ``software_config``."""
    row = Opened(software_config, row)
    return SoftwareConfig(
        id=row.id,
        name=row.name,
        group=row.group,
        project_id=row.project_id,
        created_at=row.created_at,
        **row.config,
    )


def get(connection: Connection, project_id: str, config_id: str) -> SoftwareConfig:
    """Return a project's config, or raise NotFound."""
    return _required(_find(connection, project_id, config_id), config_id)


def lock(connection: Connection, project_id: str, config_id: str) -> SoftwareConfig:
    """Return a project's config, or raise NotFound; it stays until the end of the transaction."""
    return _required(_find(connection, project_id, config_id, for_update=True), config_id)


def insert(connection: Connection, project_id: str, config: SoftwareConfig) -> None:
    """Store a config."""
    connection.execute(
        sa.insert(software_config).values(
            placed(
                software_config,
                {
                    "id": config.id,
                    "project_id": project_id,
                    "name": config.name,
                    "group": config.group,
                    "config": {key: getattr(config, key) for key in _CONTENT},
                    "created_at": utcnow(),
                },
            )
        )
    )


def take(connection: Connection, project_id: str, config: SoftwareConfig, quotas: Quotas) -> None:
    """Refuse a config that was stored, if the project has enough others: see ``project_quota.take``."""
    project_quota.take(connection, software_config, project_id, config.id, quotas.configs)


def try_drop_derived(connection: Connection, project_id: str, config_id: str) -> bool:
    """Delete a config, WHERE it was derived for a deployment and no other refers to it."""
    found = _find(connection, project_id, config_id, for_update=True)
    return found is not None and found.run is not None and _try_delete(connection, config_id)


def _required(found: SoftwareConfig | None, config_id: str) -> SoftwareConfig:
    if found is None:
        raise errors.NotFound(entity="Software Config", name=config_id)
    return found


def _find(
    connection: Connection, project_id: str, config_id: str, *, for_update: bool = False
) -> SoftwareConfig | None:
    query = sa.select(software_config).where(software_config.c.id == config_id, _visible(project_id))
    row = connection.execute(query.with_for_update() if for_update else query).one_or_none()
    return None if row is None else record(row)


def _try_delete(connection: Connection, config_id: str) -> bool:
    """Delete a config that is locked, WHERE no deployment refers to it."""
    referring = sa.select(software_deployment.c.id).where(software_deployment.c.config_id == config_id)
    unused = (software_config.c.id == config_id, ~referring.exists())
    return connection.execute(sa.delete(software_config).where(*unused)).rowcount == 1
