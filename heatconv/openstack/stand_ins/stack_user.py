# SPDX-License-Identifier: Apache-2.0
"""``heat.engine.resources.stack_user``: resources that have a user of their own in Keystone."""

from __future__ import annotations

from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources.own_user import OwnUser


class StackUser(OwnUser, Resource):
    """A resource that speaks to heatconv by a user of its own."""

    def handle_create(self) -> None:
        """Make the user."""
        self._create_user()

    def handle_suspend(self) -> None:
        """Let the user in no more."""
        self._disable_user()

    def handle_resume(self) -> None:
        """Let the user in again."""
        self._enable_user()
