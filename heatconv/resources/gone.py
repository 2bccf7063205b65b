# SPDX-License-Identifier: Apache-2.0
"""Telling by an error that what a service was asked about, or to delete, is not there."""

from __future__ import annotations

from heatconv import errors
from heatconv.resources.clients.status import http_status
from heatconv.resources.exception import ClientNotAvailable
from heatconv.resources.resource import Resource

NOT_FOUND = 404


def is_gone(plugin: Resource, error: Exception) -> bool:
    """Tell whether an error says that what a service was asked about, or to delete, is not there."""
    if isinstance(error, errors.NotFound | errors.PhysicalResourceGone) or http_status(error) == NOT_FOUND:
        return True
    try:
        return bool(plugin.client_plugin().is_not_found(error))
    except ClientNotAvailable:
        return False
