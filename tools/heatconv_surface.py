# SPDX-License-Identifier: Apache-2.0
"""What of Heat's names there is here, and what else: asked from the code, in the form of heat_surface.py.

Where a table lists the names, the table is asked.  Where a name is only ever
checked, each of Heat's names is tried: a template that has it is posted, and
either accepted or refused.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, cast

import yaml

from heatconv import errors
from heatconv.api.contract import contract_of
from heatconv.api.handlers import lookup, stacks, templates
from heatconv.api.routes import ROUTES
from heatconv.api.schemas.stacks import ACTIONS
from heatconv.engine.freezing import freeze, parse
from heatconv.model.definition import Definition
from heatconv.openstack.adapter import CLIENTS
from heatconv.resources.driver import PluginDriver
from heatconv.resources.facts import StackFacts
from heatconv.resources.hooks import Hooks
from heatconv.resources.registry import Registry, installed_types
from heatconv.resources.resource import Resource
from heatconv.sinks.types import SinkTypes
from heatconv.template.evaluator import Form
from heatconv.template.resource_registry import HOOKS, RESTRICTED_ACTIONS
from heatconv.template.versions import Version, functions_of, versions
from tools import types_here
from tools.callers import Calls

Surface = Mapping[str, Mapping[str, list[str]]]

TYPE = "OS::Heat::None"
STACK = StackFacts(id="1", name="it", project_id="mine")
NEWEST = [version for version in versions() if version.language == "hot"][-1]


def surface(heat: Surface) -> Surface:
    """Return the names that are here, by subject, spelled as Heat spells them."""
    types = types_here.native()
    hidden = {name for name, type_ in types.items() if types_here.is_hidden(type_)}
    old = types_here.PLUGINS & set(heat["hidden types"])
    return {
        "routes": _routes(heat["routes"]),
        "request keys": _alone(_request_keys()),
        "actions": _alone(ACTIONS),
        "template versions": _alone(name for version in versions() for name in version.full_names),
        "template keys": _tried(heat["template keys"], _knows_key),
        "functions": _functions(),
        "condition functions": _condition_functions(),
        "parameter types": _by_version({each.name: each.parameter_types for each in versions()}),
        "parameter constraints": _tried(heat["parameter constraints"], _knows_constraint),
        "custom constraints": _constraints(heat["custom constraints"]),
        "environment sections": _alone(filter(_knows_section, heat["environment sections"])),
        "merge strategies": _alone(filter(_knows_strategy, heat["merge strategies"])),
        "registry entries": _alone(filter(_knows_entry, heat["registry entries"])),
        "breakpoints": _alone(HOOKS),
        "restricted actions": _alone(RESTRICTED_ACTIONS),
        "event sinks": _alone(SinkTypes().names()),
        "plugin hooks": _alone(filter(Calls.read().of, {*heat["plugin hooks"], *_declared_hooks()})),
        "plugin helpers": _alone(_contract() & set(heat["plugin helpers"])),
        "resource types": _alone((types.keys() - hidden) | (types_here.PLUGINS - old)),
        "hidden types": _alone(hidden | old),
        "properties": {name: sorted(type_.properties_schema) for name, type_ in types.items()},
        "attributes": {name: sorted(type_.attributes_schema) for name, type_ in types.items()},
    }


def _constraints(heats: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return ours, and those that come with Heat's clients where there is a cloud."""
    ours = set(_installed("heatconv.constraints"))
    clients = {name for name, modules in heats.items() if modules[0].startswith(CLIENTS)}
    return {name: heats.get(name, []) for name in ours | clients}


def _alone(names: Iterable[str]) -> dict[str, list[str]]:
    return {name: [] for name in names}


def _installed(group: str) -> Iterator[str]:
    return (item.name for item in entry_points(group=group))


# -- REST ------------------------------------------------------------------------------------------


def _routes(heats: Iterable[str]) -> dict[str, list[str]]:
    """Return the methods of each path; what Heat has too is spelled as there."""
    spelling = {_shape(path): path for path in heats}
    return {
        spelling.get(_shape(path), path): list(handlers)
        for path, handlers in ROUTES.items()
        # An ARN has a slash in it: what is one segment to Heat's router takes a path of its own.
        if lookup.by_arn not in handlers.values()
    }


def _shape(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def _request_keys() -> set[str]:
    """Return the keys that the bodies of stacks may have, and that are more than declared."""
    return {
        key
        for handler in (stacks.create, stacks.update, stacks.patch, templates.validate)
        for key, schema in (contract_of(handler).body or {})["properties"].items()
        if "not supported" not in schema.get("description", "")
    }


# -- templates -------------------------------------------------------------------------------------

_HOT: dict[str, Any] = {
    "parameters": {"size": {"type": "number", "default": 1}},
    "resources": {"thing": {"type": TYPE}},
    "outputs": {"told": {"value": "x"}},
}
_CFN: dict[str, Any] = {
    "Parameters": {"size": {"Type": "Number", "Default": 1}},
    "Resources": {"thing": {"Type": TYPE}},
    "Outputs": {"told": {"Value": "x"}},
}
#: A parameter's type and a setting for each kind of constraint.
_CONSTRAINTS = {
    "length": ("string", {"min": 1}),
    "range": ("number", {"min": 1}),
    "modulo": ("number", {"step": 2, "offset": 1}),
    "allowed_values": ("string", ["1"]),
    "allowed_pattern": ("string", "1"),
    "custom_constraint": ("string", "json_string"),
}


def _functions() -> dict[str, list[str]]:
    return _by_version(
        {each.name: [name for name, _ in functions_of(each.full_names[0])] for each in versions()}
    )


def _condition_functions() -> dict[str, list[str]]:
    """Return what conditions can use; their tables know the other functions too, to refuse them."""
    return _by_version(
        {
            each.name: [
                name
                for name, entry in each.condition_functions.items()
                if not isinstance(entry, Form) or entry.listed
            ]
            for each in versions()
        }
    )


def _by_version(names: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return names, each with the versions that know it."""
    found: dict[str, list[str]] = {}
    for version, known in names.items():
        for name in known:
            found.setdefault(name, []).append(version)
    return found


def _tried(heats: Mapping[str, Iterable[str]], knows: Any) -> dict[str, list[str]]:
    """Return names, each with the versions that know it, of those in which Heat does."""
    by_name = {each.name: each for each in versions()}
    return {
        name: [date for date in dates if date in by_name and knows(by_name[date], name)]
        for name, dates in heats.items()
    }


def _knows_key(version: Version, key: str) -> bool:
    section, _, word = key.partition(".*.")
    if not word:
        return section in version.sections
    template: dict[str, Any] = _HOT if version.language == "hot" else _CFN
    ((name, entry),) = template[section].items()
    return accepts({version.key: version.name, **template, section: {name: {word: None, **entry}}})


def _knows_constraint(version: Version, kind: str) -> bool:
    type_, setting = _CONSTRAINTS[kind]
    parameter = {"type": type_, "default": 1, "constraints": [{kind: setting}]}
    return accepts({version.key: version.name, "parameters": {"size": parameter}})


def accepts(template: Mapping[str, Any], **beside: Any) -> bool:
    """Tell whether a template and what is posted beside it are all right."""
    registry = Registry(installed_types())
    try:
        freeze(parse({"template": dict(template), **beside}, max_template_size=100_000), STACK, registry)
    except errors.Invalid:
        return False
    return True


# -- environments ----------------------------------------------------------------------------------

#: An entry of a registry, by what it is to Heat, and a type that it stands in for.
_ENTRIES = {
    "Mapping": ({"Some::None": TYPE}, "Some::None"),
    "Wildcard Mapping": ({"Some::*": "OS::Heat::*"}, "Some::None"),
    "Template": ({"Some::None": "some.yaml"}, "Some::None"),
}


def _template(type_: str = TYPE) -> dict[str, Any]:
    return {NEWEST.key: NEWEST.name, **_HOT, "resources": {"thing": {"type": type_}}}


def _knows_section(section: str) -> bool:
    return any(accepts(_template(), environment={section: type_()}) for type_ in (dict, list))


def _knows_strategy(strategy: str) -> bool:
    said = {"parameters": {"size": 2}, "parameter_merge_strategies": {"size": strategy}}
    return accepts(_template(), environment_files=["one"], files={"one": yaml.safe_dump(said)})


def _knows_entry(kind: str) -> bool:
    registry, type_ = _ENTRIES[kind]
    files = {"some.yaml": yaml.safe_dump(_template())}
    return accepts(_template(type_), environment={"resource_registry": registry}, files=files)


# -- plugins ---------------------------------------------------------------------------------------


class _Listening:
    """Has nothing of what it is asked for, and knows what that was."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.asked.add(name)
        raise AttributeError(name)


def _contract() -> set[str]:
    """Return what a resource has, or is asked for; not what it has only to refuse it."""
    listening = _Listening()
    for action in Resource.ACTIONS:
        PluginDriver(cast("Resource", listening)).cancel(action, None)
    made = Resource("it", Definition(name="it", type=TYPE), STACK)
    return {name for name in dir(made) if not _refuses(name)} | listening.asked


def _refuses(name: str) -> bool:
    method = inspect.getattr_static(Resource, name, None)
    return inspect.isfunction(method) and method.__annotations__.get("return") == "NoReturn"


def _declared_hooks() -> set[str]:
    return {name for name in vars(Hooks) if not name.startswith("_")}
