# SPDX-License-Identifier: Apache-2.0
"""Which resource types there are.

They come from the entry points ``heatconv.resources`` and from the modules
below the operator's plugin directories, which win over the former.  A plugin
that cannot be loaded stops the process at its start: an operator has to know.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from stevedore import extension

from heatconv import errors
from heatconv.model.definition import is_template
from heatconv.resources import clients, constraints, support
from heatconv.resources.resource import Resource
from heatconv.resources.template_resource import TemplateResource

NAMESPACE = "heatconv.resources"
Types = Mapping[str, type[Resource]]


class Registry:
    """The resource types of this process, by name."""

    def __init__(self, types: Types) -> None:
        self._types = dict(types)

    @classmethod
    def load(cls, plugin_dirs: Sequence[str] = ()) -> Self:
        """Return all types that are installed or below one of the directories.

        Raises:
            PluginError: one of them does not load.
        """
        types = installed_types()
        for directory in plugin_dirs:
            for path in sorted(Path(directory).rglob("*.py")):
                module = _load_module(path)
                types.update(_mapping(module, str(path)))
                constraints.installed().update(getattr(module, "constraint_mapping", dict)())
                clients.installed().update(getattr(module, "client_mapping", dict)())
        return cls(types)

    def get(self, type_name: str) -> type[Resource]:
        """Return the class of a type.

        Raises:
            NotFound: there is no such type.
        """
        if is_template(type_name):
            return TemplateResource
        try:
            return self._types[type_name]
        except KeyError:
            raise errors.NotFound(entity="Resource Type", name=type_name) from None

    def asks_engine(self, type_name: str) -> bool:
        """Tell whether what a type does is to ask an engine; not if there is no such type."""
        type_ = TemplateResource if is_template(type_name) else self._types.get(type_name)
        return type_ is not None and type_.asks_engine

    def names(self) -> list[str]:
        """Return the names of all types in order."""
        return sorted(self._types)

    def list(self, query: Mapping[str, Any] | None = None) -> list[dict[str, str]]:
        """Return ``{"resource_type", "description"}`` of the types that fit a query, hidden ones left out.

        ``query``: ``name`` (a regular expression for the start of the name),
        ``support_status``, ``version`` (of the support).

        Raises:
            BadRequest: ``name`` is no regular expression.
        """
        fits = _filter(query or {})
        return [
            {"resource_type": name, "description": _description(self._types[name])}
            for name in self.names()
            if fits(name, self._types[name].support_status)
        ]

    def describe(self, type_name: str) -> dict[str, Any]:
        """Return a type as ``/resource_types/{type}`` shows it.

        Raises:
            NotFound: there is no such type.
        """
        resource_class = self.get(type_name)
        attributes = {**resource_class.attributes_schema, **resource_class.base_attributes_schema}
        return {
            "resource_type": type_name,
            "properties": {
                name: schema.to_dict()
                for name, schema in resource_class.properties_schema.items()
                if schema.implemented and schema.support_status.status != support.HIDDEN
            },
            "attributes": {
                name: schema.to_dict()
                for name, schema in attributes.items()
                if schema.support_status.status != support.HIDDEN
            },
            "support_status": resource_class.support_status.to_dict(),
        }


def installed_types() -> dict[str, type[Resource]]:
    """Return the types of the entry points."""
    found = extension.ExtensionManager(NAMESPACE, on_load_failure_callback=_refuse)
    return {item.name: item.plugin for item in found}


def _refuse(_manager: Any, entry_point: Any, error: BaseException) -> None:
    raise errors.PluginError(plugin=f"{entry_point.name} ({entry_point.value})", reason=error) from error


def _load_module(path: Path) -> ModuleType:
    """Import a file under a name that no other module has."""
    digest = hashlib.sha1(str(path.resolve()).encode(), usedforsecurity=False).hexdigest()[:12]
    name = f"heatconv_plugin_{digest}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise errors.PluginError(plugin=str(path), reason="it is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise errors.PluginError(plugin=str(path), reason=f"{type(error).__name__}: {error}") from error
    return module


def _mapping(module: ModuleType, plugin: str) -> Types:
    """Return the types a plugin module says it has."""
    told = getattr(module, "available_resource_mapping", None) or getattr(module, "resource_mapping", None)
    types = told() if told is not None else {}
    for name, resource_class in types.items():
        if not (isinstance(resource_class, type) and issubclass(resource_class, Resource)):
            raise errors.PluginError(plugin=plugin, reason=f"{name} is not a subclass of resource.Resource")
    return dict(types)


def _filter(query: Mapping[str, Any]) -> Any:
    """Return the test of a name and a support status that a query stands for."""
    try:
        matches = re.compile(query.get("name") or "").match
    except re.error as error:
        raise errors.BadRequest(f"The name {query['name']!r} is no regular expression: {error}.") from None
    status, version = query.get("support_status"), query.get("version")

    def fits(name: str, supported: support.SupportStatus) -> bool:
        if supported.status == support.HIDDEN or (status and supported.status != status):
            return False
        return bool(matches(name)) and (not version or version in _versions(supported))

    return fits


def _versions(status: support.SupportStatus | None) -> Iterator[str | None]:
    while status is not None:
        yield status.version
        status = status.previous_status


def _description(resource_class: type[Resource]) -> str:
    text = resource_class.__doc__ or ""
    return " ".join(text.strip().split("\n\n")[0].split())
