# SPDX-License-Identifier: Apache-2.0
"""Which resource types there are.

They come from the entry points ``heatconv.resources`` and from the modules
below the operator's plugin directories, which win over the former.  A plugin
that cannot be loaded stops the process at its start: an operator has to know.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Protocol, Self

from stevedore import extension

from heatconv import errors
from heatconv.model.definition import Definition, is_template
from heatconv.model.patterns import Pattern, PatternError, PatternTooHard
from heatconv.model.permission import check_types, is_refused
from heatconv.model.records import Stack
from heatconv.model.work import bounded_work
from heatconv.resources import clients, constraints, exception, support
from heatconv.resources.clients.by_thread import ClientsByThread
from heatconv.resources.context import Context
from heatconv.resources.promises import Load, Promises
from heatconv.resources.resource import Resource
from heatconv.resources.stack_users import StackUsers
from heatconv.resources.template_resource import TemplateResource

NAMESPACE = "heatconv.resources"
Types = Mapping[str, type[Resource]]


class ActsFor(Protocol):
    """Tells whom plugins act for."""

    def __call__(self, project_id: str, root_id: str | None, *, asking: bool) -> Context:
        """Return whom for: on one root stack, or on none; ``asking`` as ``Registry.context`` has it."""


class Reader(Protocol):
    """Who reads notifications: a type, or what a service's types have in common."""

    notifications: ClassVar[Collection[str]]

    @classmethod
    def notified(cls, event_type: str, payload: Any) -> Iterable[str]:
        """Return the physical ids of the things a notification is about, as a type's ``notified`` does."""


class Registry:
    """The resource types of this process, by name."""

    def __init__(self, types: Types) -> None:
        self._types = Promises(types)
        self.stand_for: dict[str, str] = {}  #: the type behind a type, unless an environment says otherwise
        self._acts_for: ActsFor | None = None
        self._readers: list[type[Reader]] = []
        self._stack_users: StackUsers | None = None
        self._clients_by_thread = ClientsByThread()

    def promise(self, types: Mapping[str, Load]) -> None:
        """Add types that are imported when they are first used; those that are there already stay."""
        self._types.promise(types)

    def map(self, types: Mapping[str, str]) -> None:
        """Let types stand for others, as environments do, wherever no environment says otherwise."""
        self.stand_for.update(types)

    def acts_for(self, whom: ActsFor) -> None:
        """Let plugins act for somebody from now on; ``whom`` makes the context of each action."""
        self._acts_for = whom

    def has_stack_users(self, stack_users: StackUsers | None) -> None:
        """Let resources have users of their own from now on; None: let them have none."""
        self._stack_users = stack_users

    def context(self, stack: Stack, *, asking: bool = False) -> Context:
        """Return whom a plugin acts for, on one stack, for one action.

        Args:
            asking: for who asks for it now, rather than the user whose stack it is: where
                a template is looked at that is that one's.
        """
        return self._context(stack.project_id, stack.root_id, asking=asking)

    def asker(self, project_id: str) -> Context:
        """Return the context of a plugin that is asked about no stack: it acts for the user who asks."""
        return self._context(project_id, None, asking=True)

    def _context(self, project_id: str, root_id: str | None, *, asking: bool) -> Context:
        users, kept = self._stack_users, self._clients_by_thread
        if self._acts_for is None:
            return Context(project_id=project_id, stack_users=users, clients_by_thread=kept)
        context = self._acts_for(project_id, root_id, asking=asking)
        return replace(context, stack_users=users, clients_by_thread=kept)

    def hear(self, readers: Iterable[type[Reader]]) -> None:
        """Have notifications read by more than the types themselves, which may not be imported yet."""
        self._readers += readers

    def readers(self) -> Iterable[type[Reader]]:
        """Return the readers of notifications: types that are imported, and other readers that were named."""
        return [*dict.fromkeys(self._types.kept()), *self._readers]

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
            found: type[Resource] = self._types[type_name]
        except KeyError:
            raise errors.NotFound(entity="Resource Type", name=type_name) from None
        return found

    def may_become(self, before: Definition, after: Definition) -> bool:
        """Tell whether a resource of one type may be updated to another, rather than be replaced.

        It may if the type is the same, or was put in the place of the one before under another name.
        """
        if before.implemented_by == after.implemented_by:
            return True
        was, now = (self._types.get(each.implemented_by) for each in (before, after))
        if was is None or now is None:
            return False
        # Its classes, too: a class put before a plugin's class here is unknown to the plugin.
        return any(was.support_status.is_substituted(each) for each in now.__mro__)

    def asks_engine(self, type_name: str) -> bool:
        """Tell whether a type asks an engine to do its work; False if there is no such type."""
        type_ = TemplateResource if is_template(type_name) else self._types.get(type_name)
        return type_ is not None and type_.asks_engine

    def holds_data(self, type_name: str) -> bool:
        """Tell whether what a type makes holds data; False if there is no such type."""
        type_ = None if is_template(type_name) else self._types.get(type_name)
        return type_ is not None and type_.holds_data

    def names(self) -> list[str]:
        """Return the names of all types in order."""
        return sorted(self._types)

    def list(
        self, query: Mapping[str, Any], context: Context, refused: Collection[str] = ()
    ) -> list[dict[str, str]]:
        """Return ``{"resource_type", "description"}`` of the types that fit a query and can be used.

        Those that are hidden, whose service is not there, or that are refused are left out.

        Args:
            query: ``name`` (a regular expression for the start of the name),
                ``support_status``, ``version`` (of the support).
            context: whom plugins would act for.
            refused: types that must not be used, see ``model.permission``.

        Raises:
            BadRequest: ``name`` is no regular expression, or takes too much work.
        """
        with bounded_work():
            fits = _filter(query)
            return [
                {"resource_type": name, "description": _description(self._types[name])}
                for name in self._yielding(self.names())
                if not is_refused(name, refused)
                and fits(name, self._types[name].support_status)
                and _unavailable(self._types[name], context) is None
            ]

    @staticmethod
    def _yielding(names: Iterable[str]) -> Iterator[str]:
        """Yield names, and let others have the processor before each: it may be imported first."""
        for name in names:
            time.sleep(0)
            yield name

    def find(self, type_name: str, refused: Collection[str] = ()) -> type[Resource]:
        """Return the class of a type that is to be shown.

        Raises:
            Forbidden: it must not be used.
            NotFound: there is no such type.
            NotSupported: it is hidden.
        """
        check_types([type_name], refused)
        found = self.get(type_name)
        if found.support_status.status == support.HIDDEN:
            raise errors.NotSupported(feature=f"Using {type_name}, which is there for old templates only,")
        return found

    def describe(self, type_name: str, context: Context, refused: Collection[str] = ()) -> dict[str, Any]:
        """Return a type as ``/resource_types/{type}`` shows it; for the rest see ``list``.

        Raises:
            Forbidden: it must not be used.
            NotFound: there is no such type.
            NotSupported: it is hidden.
            TypeUnavailable: its service is not there.
        """
        resource_class = self.find(type_name, refused)
        reason = _unavailable(resource_class, context)
        if reason is not None:
            unavailable = exception.ResourceTypeUnavailable(
                service_name=resource_class.default_client_name, resource_type=type_name, reason=reason
            )
            raise errors.TypeUnavailable(str(unavailable))
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


def _unavailable(resource_class: type[Resource], context: Context) -> str | None:
    """Return why the service behind a type cannot be used; None if it can, or the type needs none."""
    try:
        available, reason = resource_class.is_service_available(context)
    except Exception as error:  # noqa: BLE001 - a plugin, or a service that it asks, may raise anything
        return str(error) or type(error).__name__
    return None if available else str(reason)


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
    mapping = getattr(module, "available_resource_mapping", None) or getattr(module, "resource_mapping", None)
    types = mapping() if mapping is not None else {}
    for name, resource_class in types.items():
        if not (isinstance(resource_class, type) and issubclass(resource_class, Resource)):
            raise errors.PluginError(plugin=plugin, reason=f"{name} is not a subclass of resource.Resource")
    return dict(types)


def _filter(query: Mapping[str, Any]) -> Any:
    """Return the test of a name and a support status that a query stands for."""
    matches = _start(query.get("name") or "")
    status, version = query.get("support_status"), query.get("version")

    def fits(name: str, supported: support.SupportStatus) -> bool:
        if supported.status == support.HIDDEN or (status and supported.status != status):
            return False
        return matches(name) and (not version or version in _versions(supported))

    return fits


def _start(pattern: str) -> Callable[[str], bool]:
    """Return the test of a start of a name that a user's regular expression stands for."""

    def refusal(error: Exception) -> errors.BadRequest:
        return errors.BadRequest(f"The name {pattern[:60]!r} cannot be looked for: {error}")

    try:
        compiled = Pattern(pattern)
    except PatternError as error:
        raise refusal(error) from None

    def matches(name: str) -> bool:
        try:
            return compiled.starts(name)
        except PatternTooHard as error:
            raise refusal(error) from None

    return matches


def _versions(status: support.SupportStatus | None) -> Iterator[str | None]:
    while status is not None:
        yield status.version
        status = status.previous_status


def _description(resource_class: type[Resource]) -> str:
    text = resource_class.__doc__ or ""
    return " ".join(text.strip().split("\n\n")[0].split())
