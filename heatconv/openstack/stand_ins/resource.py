# SPDX-License-Identifier: Apache-2.0
"""``heat.engine.resource``: the contract of ``resources``, and what Heat's own plugins use beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from heatconv import errors
from heatconv.openstack.driver import CloudDriver
from heatconv.resources import exception
from heatconv.resources import resource as ours
from heatconv.resources.resource import NoActionRequired, PollDelay, UpdateReplace
from heatconv.resources.software import Software

__all__ = ["NoActionRequired", "PollDelay", "Resource", "UpdateReplace"]


class Resource(ours.Resource):
    """The base of Heat's plugins."""

    _driver = CloudDriver

    @classmethod
    def is_service_available(cls, context: Any) -> tuple[bool, str | None]:
        """Tell whether the cloud has the service behind the type, by its catalog, with its extensions."""
        service = cls.default_client_name
        if service is None:
            return True, None
        try:
            plugin = context.clients.client_plugin(service)
        except exception.ClientNotAvailable as error:
            return False, str(error)
        types = plugin.service_types
        if types and not any(plugin.does_endpoint_exist(each, service) for each in types):
            return False, f"the cloud's catalog has no endpoint of the service {' or '.join(types)}"
        missing = [each for each in cls._extensions() if not plugin.has_extension(each)]
        if missing:
            return False, f"the service lacks the extension {', '.join(missing)}"
        return True, None

    def resource_id_set(self, inst: str | None) -> None:
        """See the base; what is given the id need not ask whether there is such a thing."""
        super().resource_id_set(inst)
        if inst is not None and self.entity is not None:
            self.context.login.known.note_id(self.entity, inst)

    def comparable(self) -> set[str]:
        """Return the names of the properties that were given as one plain value.

        What has a default a service may fill in: a port that was given no device has one as
        soon as a server uses it.  Lists and maps come back in forms of the service's own.
        """
        given = self.properties.data
        plain = {name for name, value in given.items() if isinstance(value, str | int | float)}
        return super().comparable() & plain

    def rpc_client(self) -> SoftwareConfigs:  # type: ignore[override]  # it is refused by types of ours
        """Return what plugins ask an engine for: software configs."""
        return SoftwareConfigs(self.stack.software)


class SoftwareConfigs:
    """As much of Heat's RPC client as plugins of a cloud's types use."""

    def __init__(self, software: Software | None) -> None:
        self._software = software

    def show_software_config(self, _context: Any, config_id: str) -> Mapping[str, Any]:
        """Return a software config of the project.

        Raises:
            NotFound: there is none of that id.
        """
        if self._software is None:
            raise errors.NotFound(entity="Software config", name=config_id)
        return {"config": self._software.get_config(config_id).config}

    @contextmanager
    def ignore_error_by_name(self, name: str) -> Iterator[None]:
        """Ignore that something is not there, if that is the name."""
        try:
            yield
        except errors.NotFound:
            if name != "NotFound":
                raise
