# SPDX-License-Identifier: Apache-2.0
"""The clients of the services that resources live in.

Each service has a client plugin, a ``client_plugin.ClientPlugin``, which is found by name: among
the entry points ``heatconv.clients``, or in what a module of the plugin directories tells by
``client_mapping()``.  No service is built in.

Begin with ``client_plugin``, the base of them.  ``by_thread`` keeps those that a thread acts by.
``status`` reads what an exception of a client tells.
"""

from __future__ import annotations

import functools
from typing import Any

from stevedore import extension

from heatconv import errors
from heatconv.resources import exception
from heatconv.resources.promises import Promises

NAMESPACE = "heatconv.clients"


class Clients:
    """The clients of one user, each made when it is first asked for.

    Concurrency: belong to one thread, see ``by_thread``.
    """

    def __init__(self, context: Any) -> None:
        self.context = context
        self._plugins: dict[str, Any] = {}

    def client(self, name: str, version: str | None = None) -> Any:
        """Return the client of a service.

        Raises:
            ClientNotAvailable: no client plugin of that name is installed.
        """
        return self.client_plugin(name).client(version=version)

    def client_plugin(self, name: str) -> Any:
        """Return what is known about a service's client: finders, exceptions.

        Raises:
            ClientNotAvailable: no client plugin of that name is installed.
        """
        if name not in self._plugins:
            found = installed().get(name)
            if found is None or not _is_available(found):
                raise exception.ClientNotAvailable(client_name=name)
            self._plugins[name] = found(self.context)
        return self._plugins[name]


def _is_available(plugin: Any) -> bool:
    """Ask the class, if it has a say in it, such as one whose library may be missing."""
    is_available = getattr(plugin, "is_available", None)
    return is_available is None or bool(is_available())


@functools.cache
def installed() -> Promises:
    """Return the client plugins of this process by name; plugin modules, and a cloud, add theirs.

    Raises:
        PluginError: one of them does not load.
    """
    found = extension.ExtensionManager(NAMESPACE, on_load_failure_callback=_refuse)
    return Promises({item.name: item.plugin for item in found})


def _refuse(_manager: Any, entry_point: Any, error: BaseException) -> None:
    raise errors.PluginError(plugin=f"{entry_point.name} ({entry_point.value})", reason=error) from error
