# SPDX-License-Identifier: Apache-2.0
"""Volumes and their attachments: what a worker that died has asked for is not asked for again.

Cinder and Nova refuse to do once more what is done, which Heat's take for a failure.
"""

from __future__ import annotations

from typing import Any

from heatconv.openstack.mended import refusing
from heatconv.openstack.stand_ins.resource import Resource


class Volume(refusing.Volume):
    """A volume that is extended once."""

    def _extend_volume(self, new_size: int) -> bool:
        """Begin to extend it, unless that has begun, or is done."""
        volume = self.client().volumes.get(self.resource_id)
        if volume.status == "extending" or volume.size >= new_size:
            return True
        done: bool = super()._extend_volume(new_size)  # type: ignore[misc]  # Heat's
        return done


class VolumeAttachment(Resource):
    """An attachment that moves to another volume, or server, once."""

    def check_update_complete(self, token: Any) -> bool:
        """Attach it once it is detached, unless it is attached already."""
        detaching, attaching = token
        if attaching and detaching.nova_complete and not attaching.called:
            attaching.called = self._attached(attaching.srv_id, attaching.vol_id)
        return super().check_update_complete(token)

    def _attached(self, server_id: str, volume_id: str) -> str | bool:
        """Return the id of an attachment, which is the volume's; False if it is not attached."""
        found = self.client("nova").volumes.get_server_volumes(server_id)
        return volume_id if any(each.volumeId == volume_id for each in found) else False
