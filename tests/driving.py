# SPDX-License-Identifier: Apache-2.0
"""A plugin and its driver, for tests that hold the plugin."""

from __future__ import annotations

from typing import Any

from heatconv.resources.driver import PluginDriver, driver_of
from heatconv.resources.resource import Resource


def drive(plugin: Resource) -> Any:
    """Return the driver of a plugin: always the same, for it knows of the update under way."""
    driver: PluginDriver = plugin.__dict__.setdefault("driver_in_tests", driver_of(plugin))
    return driver
