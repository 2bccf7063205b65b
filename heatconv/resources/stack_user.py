# SPDX-License-Identifier: Apache-2.0
"""Resources that something inside a stack speaks to heatconv as."""

from __future__ import annotations

from heatconv.resources.own_user import OwnUser


class StackUser(OwnUser):
    """A resource that may be spoken to from outside.

    What lets somebody speak is that they know a signed URL, or are the user that
    a subclass makes for it.
    """

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())

    def handle_suspend(self) -> None:
        self._disable_user()

    def handle_resume(self) -> None:
        self._enable_user()
