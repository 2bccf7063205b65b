# SPDX-License-Identifier: Apache-2.0
"""The world of processes: a running heatconv behind its REST API, a fake cloud behind HTTP."""

from __future__ import annotations

import time
from typing import Any

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.scenario import GONE, World

Json = dict[str, Any]

#: How often, and this many times in a row, nothing must have changed for the world to be quiet.
LOOKS, INTERVAL = 3, 0.1


class RestStacks:
    """The stacks of a project, over the REST API; implements ``Stacks``."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(self, name: str, template: Json, *, rollback: bool) -> None:
        """Create a stack."""
        self._client.create_stack(
            {"stack_name": name, "template": template, "disable_rollback": not rollback}
        )

    def update(self, name: str, template: Json, *, rollback: bool) -> None:
        """Update a stack."""
        self._client.update_stack(name, {"template": template, "disable_rollback": not rollback})

    def delete(self, name: str) -> None:
        """Delete a stack."""
        self._client.delete_stack(name)

    def abandon(self, name: str) -> None:
        """Delete a stack, and nothing that it stands for."""
        self._client.abandon_stack(name)

    def roll_back(self, name: str) -> None:
        """Bring a stack back to the last template that completed."""
        self._client.act(name, "rollback")

    def state(self, name: str) -> str:
        """Return action and status, or ``GONE``."""
        try:
            return str(self._client.show_stack(name, resolve_outputs=False)["stack_status"])
        except ClientError as error:
            if error.status != 404:
                raise
            return GONE

    def busy(self, name: str) -> bool:
        """Tell whether the stack, or a resource of it, is still being acted on."""
        if self.state(name).endswith("IN_PROGRESS"):
            return True
        try:
            resources = self._client.list_resources(name)
        except ClientError as error:
            if error.status != 404:
                raise
            return False
        return any(resource["resource_status"].endswith("IN_PROGRESS") for resource in resources)


class RealWorld(World):
    """Stacks of a deployment that runs, whose ``HEATCONV_FAKE_CLOUD`` is the cloud of ``control``.

    ``timeout`` is how many seconds a single verb may take.
    """

    def __init__(
        self, client: Client, control: CloudControl, *, prefix: str = "", timeout: float = 60
    ) -> None:
        self._rest = RestStacks(client)
        super().__init__(self._rest, control, prefix)
        self._control = control
        self._timeout = timeout
        self._control.hold_after(0)

    def after(self, count: int) -> None:
        """Let ``count`` mutating operations of the cloud happen, and hold the rest."""
        _, done = self._control.counts()
        self._control.hold_after(count)
        if not self._control.wait_for(done + count, self._timeout, done=True):
            raise AssertionError(f"{count} operations should have come within {self._timeout} s")

    def settle(self) -> None:
        """Let everything happen, until nothing is left to happen."""
        self._control.release()
        deadline = time.monotonic() + self._timeout
        quiet = 0
        while quiet < LOOKS:
            if time.monotonic() > deadline:
                raise AssertionError(f"no end within {self._timeout} s: {self._states()}")
            quiet = 0 if self._busy() else quiet + 1
            time.sleep(INTERVAL)
        self._control.hold_after(0)

    def _busy(self) -> bool:
        arrived, done = self._control.counts()
        return arrived != done or any(self._rest.busy(name) for name in self.names)

    def _states(self) -> dict[str, str]:
        return {name: self._rest.state(name) for name in sorted(self.names)}
