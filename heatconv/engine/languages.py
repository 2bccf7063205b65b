# SPDX-License-Identifier: Apache-2.0
"""What users ask about the language of templates: its versions, their functions, and who reads it."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from heatconv import errors
from heatconv.rpc.context import RequestContext
from heatconv.template import functions_of, versions

Json = dict[str, Any]


class Languages:
    """Tells how things can be declared; the same to everybody."""

    def list_template_versions(self, _context: RequestContext) -> list[Json]:
        """Return the versions that a template may name, with their other names."""
        return [
            {"version": name, "type": version.language, "aliases": aliases}
            for version in versions()
            for name, *aliases in [version.full_names]
        ]

    def list_template_functions(
        self, _context: RequestContext, version: str, *, with_conditions: bool = False
    ) -> list[Json]:
        """Return the functions of a version, by any of its names.

        Raises:
            NotFound: there is no such version.
        """
        if not any(version in each.full_names for each in versions()):
            raise errors.NotFound(entity="Template Version", name=version)
        listed = functions_of(version, with_conditions)
        return [{"functions": name, "description": description} for name, description in listed]

    def get_revision(self, _context: RequestContext) -> str:
        """Return the version of heatconv that answers."""
        return metadata.version("heatconv")
