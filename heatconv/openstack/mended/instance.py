# SPDX-License-Identifier: Apache-2.0
"""``AWS::EC2::Instance``: its port goes after its server.

Heat deletes the port first, which Neutron lets nobody but an administrator do
while the server has it.
"""

from __future__ import annotations

from typing import Any

from heatconv.openstack.stand_ins.resource import Resource


class Instance(Resource):
    """An instance that keeps its port until its server is gone."""

    def handle_delete(self) -> Any:
        """Start to delete the server."""
        if self.resource_id is None:
            return super().handle_delete()
        with self.client_plugin().ignore_not_found:
            self.client().servers.delete(self.resource_id)
        return self.resource_id

    def check_delete_complete(self, token: Any) -> bool:
        """Delete the port that was made for the server, once that is gone."""
        gone = super().check_delete_complete(token)
        if gone:
            self._port_data_delete()  # type: ignore[attr-defined]  # Heat's
        return gone
