# SPDX-License-Identifier: Apache-2.0
"""Which calls the installed clients have, and the story that drives each.

The calls are found by looking into the packages: one that a new release brings
has no story yet, and that fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from heatclient.common.base import BaseManager
from heatclient.v1.client import Client as HeatClient
from openstack.cloud._orchestration import OrchestrationCloudMixin
from openstack.orchestration.v1._proxy import Proxy


def of_heatclient() -> list[str]:
    """Return ``manager.method`` for all that a client object has."""
    managers = vars(HeatClient(endpoint="http://127.0.0.1:1"))
    return [
        f"{name}.{method}"
        for name, manager in managers.items()
        if isinstance(manager, BaseManager)
        for method in _methods(type(manager), BaseManager)
    ]


def of_heatconv() -> list[str]:
    """Return the commands of our own."""
    return sorted(command.name.replace("_", " ") for command in entry_points(group="heatconv.cli"))


def of_openstackclient() -> list[str]:
    """Return the commands of the plugin."""
    return sorted(
        command.name.replace("_", " ") for command in entry_points(group="openstack.orchestration.v1")
    )


def of_openstacksdk() -> list[str]:
    """Return ``orchestration.method`` for those of the service, ``cloud.method`` for those above it."""
    return [
        f"{layer}.{method}"
        for layer, of in (("orchestration", Proxy), ("cloud", OrchestrationCloudMixin))
        for method in _methods(of, *of.__mro__[1:])
    ]


def story(stories: ModuleType, call: str) -> Callable[..., str | None]:
    """Return the function that drives a call, which has its name.

    It returns nothing if the call does what the client promises; a sentence, if
    it is refused as Heat refuses it.
    """
    name = _function(call)
    assert hasattr(stories, name), f"nothing drives '{call}': write {stories.__name__}.{name}"
    found: Callable[..., str | None] = getattr(stories, name)
    return found


def driven(stories: ModuleType, calls: list[str]) -> tuple[set[str], set[str]]:
    """Return the names of the stories there are, and of those there should be."""
    there = {
        name
        for name, value in inspect.getmembers(stories, inspect.isfunction)
        if value.__module__ == stories.__name__ and not name.startswith("_")
    }
    return there, {_function(call) for call in calls}


def _function(call: str) -> str:
    return call.replace(".", "_").replace(" ", "_")


def _methods(of: type[Any], *less: type[Any]) -> list[str]:
    """Return the public methods that a class adds to others."""
    return sorted(
        name
        for name, _ in inspect.getmembers(of, inspect.isfunction)
        if not name.startswith("_") and not any(name in vars(base) for base in less)
    )
