# SPDX-License-Identifier: Apache-2.0
"""Resources that something inside a stack speaks to heatconv as."""

from __future__ import annotations

from heatconv.resources import resource


class StackUser(resource.Resource):
    """A resource that may be spoken to from outside.

    There is no user behind it, hence nothing to create or to delete: what lets
    somebody speak is that they know a signed URL.
    """

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())
