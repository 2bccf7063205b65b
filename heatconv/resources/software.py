# SPDX-License-Identifier: Apache-2.0
"""How a plugin gets at the software configs and deployments of its stack's project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from heatconv.model.software import SoftwareConfig, SoftwareDeployment


class Software(Protocol):
    """The software configs and deployments of one project; every call is on disk when it returns."""

    def get_config(self, config_id: str) -> SoftwareConfig:
        """Return a config.

        Raises:
            NotFound: there is none.
        """

    def add_config(self, config: SoftwareConfig) -> None:
        """Store a config, unless one of its id is stored already.

        Raises:
            RequestLimitExceeded: the project has as many as it may.
        """

    def delete_config(self, config_id: str) -> None:
        """Delete a config.

        Raises:
            NotFound: there is none.
            Conflict: a deployment refers to it.
        """

    def find_deployment(self, deployment_id: str) -> SoftwareDeployment | None:
        """Return a deployment."""

    def deploy(self, wanted: SoftwareDeployment, config: SoftwareConfig) -> None:
        """Let a deployment run a derived config, unless that is what it runs, or ran without failing.

        Both are stored, in place of what was there, or neither.

        Raises:
            RequestLimitExceeded: the project has as many of them as it may.
        """

    def try_finish(self, run: SoftwareDeployment, values: Mapping[str, Any]) -> bool:
        """Note how the run of a deployment that was read ended, unless it has ended or is another by now."""

    def delete_deployment(self, deployment_id: str) -> None:
        """Delete a deployment, and what it had derived.

        Raises:
            NotFound: there is none.
        """
