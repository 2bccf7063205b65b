# SPDX-License-Identifier: Apache-2.0
"""What users ask about resource types: which there are for them, and what one takes and tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import type_template
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class Types:
    """Tells of the types that a caller may use, and whose service is there."""

    def __init__(self, registry: Registry) -> None:
        """Keep what is handed in."""
        self._registry = registry

    def list_resource_types(self, context: RequestContext, query: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return the types that fit a query, as ``Registry.list`` does."""
        user = self._registry.asker(context.project_id)
        return self._registry.list(query, user, context.refused_types or ())

    def show_resource_type(self, context: RequestContext, type_name: str) -> Json:
        """Return a type, as ``Registry.describe`` does."""
        user = self._registry.asker(context.project_id)
        return self._registry.describe(type_name, user, context.refused_types or ())

    def make_type_template(self, context: RequestContext, type_name: str, language: str) -> Json:
        """Return a template whose only resource is of a type.

        Raises:
            Forbidden: the caller may not use it.
            NotFound: there is no such type.
            NotSupported: it is hidden.
        """
        found = self._registry.find(type_name, context.refused_types or ())
        return type_template.make(found, type_name, language)
