# SPDX-License-Identifier: Apache-2.0
"""The software configs and deployments of one project, as a plugin gets at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.db.plumbing.session import Database
from heatconv.db.software import configs, deployments
from heatconv.db.software.configs import UNLIMITED, Quotas
from heatconv.model.software import SoftwareConfig, SoftwareDeployment


class ProjectSoftware:
    """What ``heatconv.resources.facts.Software`` promises, for one project."""

    def __init__(self, database: Database, project_id: str, quotas: Quotas = UNLIMITED) -> None:
        self._project = (database, project_id)
        self._quotas = quotas

    def get_config(self, config_id: str) -> SoftwareConfig:
        """Return a config."""
        return configs.get_config(*self._project, config_id)

    def add_config(self, config: SoftwareConfig) -> None:
        """Store a config, unless it is stored already."""
        configs.add_config(*self._project, config, self._quotas)

    def delete_config(self, config_id: str) -> None:
        """Delete a config that no deployment refers to."""
        configs.delete_config(*self._project, config_id)

    def find_deployment(self, deployment_id: str) -> SoftwareDeployment | None:
        """Return a deployment."""
        return deployments.find_deployment(*self._project, deployment_id)

    def deploy(self, wanted: SoftwareDeployment, config: SoftwareConfig) -> None:
        """Let a deployment run a derived config, unless that is what it runs, or ran without failing."""
        deployments.deploy(*self._project, wanted, config, self._quotas)

    def try_finish(self, run: SoftwareDeployment, values: Mapping[str, Any]) -> bool:
        """Note how a run of a deployment ended, if it goes on."""
        return deployments.try_finish(*self._project, run, values)

    def delete_deployment(self, deployment_id: str) -> None:
        """Delete a deployment, and what it had derived."""
        deployments.delete_deployment(*self._project, deployment_id)
