# SPDX-License-Identifier: Apache-2.0
"""Nova's client, and servers: a rebuild for other user data gets these as such.

Heat's names them as the image to rebuild the server from, which Nova refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oslo_utils import uuidutils

from heatconv.openstack.stand_ins.resource import Resource

MULTIPART = "HEAT_CFNTOOLS"  #: the format in which user data are never the id of a software config


def takes_user_data(plugin: Any) -> None:
    """Let the call of a plugin's that rebuilds a server take user data."""
    plugin.rebuild = _with_user_data(plugin.rebuild)


def _with_user_data(rebuild: Callable[..., Any]) -> Callable[..., Any]:
    def rebuilding(
        self: Any, server_id: str, image_id: str, *, user_data: str | None = None, **kwargs: Any
    ) -> Any:
        if user_data is None:
            return rebuild(self, server_id, image_id, **kwargs)
        server = self.fetch_server(server_id)
        if server is None:
            return False
        server.rebuild(image_id, userdata=user_data)
        return True

    return rebuilding


class Server(Resource):
    """A server whose user data can be changed by a rebuild."""

    def _update_user_data_rebuild(self, after_props: Any) -> Any:
        """Return the progress of a rebuild from the server's image, with other user data."""
        progress = super()._update_user_data_rebuild(after_props)  # type: ignore[misc]  # Heat's
        progress.handler_args = (self.resource_id, after_props["image"])
        progress.handler_kwargs = {"user_data": self._built(after_props)}
        return progress

    def _built(self, after_props: Any) -> Any:
        """Return user data as a server gets them when it is made."""
        content, form = after_props["user_data"], after_props["user_data_format"]
        if form != MULTIPART and uuidutils.is_uuid_like(content):
            content = self.get_software_config(content)  # type: ignore[attr-defined]  # Heat's
        plugin = self.client_plugin()
        return plugin.build_userdata(self.metadata_get() or {}, content, user_data_format=form)
