# SPDX-License-Identifier: Apache-2.0
"""What there is to Heat, by name: printed as YAML by a Python that has Heat installed.

    python -m venv /tmp/heat && /tmp/heat/bin/pip install openstack-heat==27.0.1
    /tmp/heat/bin/python tools/heat_surface.py > doc/source/reference/heat-27.yaml

Nothing of it is written by hand: routes are the mapper's, functions the template
classes', types those of the plugins that come with Heat.  A subject is a list of names,
or has for each name the versions of the template languages that know it, or what else
belongs to it.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import yaml
from heat.api.openstack import v1
from heat.api.openstack.v1 import actions, stacks
from heat.common import environment_format, environment_util, messaging, plugin_loader
from heat.engine import api, environment, parameters, resource, resources, service, support
from heat.engine.hot import functions as hot_functions
from heat.engine.hot import parameters as hot_parameters
from heat.rpc import api as rpc_api
from oslo_config import cfg

Surface = dict[str, list[str] | dict[str, list[str]]]

#: The beginnings of types that need no service beside Heat.
OWN = ("AWS::AutoScaling::", "AWS::CloudFormation::", "OS::Heat::")

HEADER = f"""\
# The names that Heat {version("openstack-heat")} knows; no text of Heat's.
# Made by tools/heat_surface.py, which tells how.
"""


def surface() -> Surface:
    """Return all names by subject."""
    types = dict(_types())
    hidden = [name for name, type_ in types.items() if type_.support_status.status == support.HIDDEN]
    own = {name: type_ for name, type_ in types.items() if name.startswith(OWN)}
    return {
        "routes": _routes(),
        "request keys": list(_request_keys()),
        "actions": list(actions.ActionController.ACTIONS),
        "template versions": [item.name for item in entry_points(group="heat.templates")],
        "template keys": _by_version(_template_keys),
        "functions": _by_version(_functions),
        "condition functions": _by_version(lambda template: template.condition_functions),
        "parameter types": _by_version(lambda template: _schema(template).TYPES),
        "parameter constraints": _by_version(_constraints),
        "custom constraints": {
            item.name: [item.module] for item in sorted(entry_points(group="heat.constraints"))
        },
        "environment sections": list(environment_format.SECTIONS),
        "merge strategies": list(environment_util.ALLOWED_PARAM_MERGE_STRATEGIES),
        "registry entries": list(_registry_entries()),
        "breakpoints": list(environment.HOOK_TYPES),
        "restricted actions": list(environment.RESTRICTED_ACTIONS),
        "event sinks": [item.name for item in entry_points(group="heat.event_sinks")],
        "plugin hooks": _hooks(),
        "plugin helpers": _helpers(),
        "resource types": sorted(types.keys() - hidden),
        "hidden types": sorted(hidden),
        "properties": {name: sorted(type_.properties_schema) for name, type_ in sorted(own.items())},
        "attributes": {name: sorted(type_.attributes_schema) for name, type_ in sorted(own.items())},
    }


# -- REST ------------------------------------------------------------------------------------------


def _routes() -> dict[str, list[str]]:
    """Return the methods of each path below the project."""
    found: dict[str, list[str]] = {}
    for route in v1.API(cfg.CONF).map.matchlist:
        if route.defaults["action"] in ("reject", "options"):
            continue
        declared = route.conditions["method"]
        methods = declared.split(",") if isinstance(declared, str) else declared
        for path in _spelled_out(route.routepath.removeprefix("/{tenant_id}")):
            known = found.setdefault(path, [])
            known += [method for method in methods if method not in known]
    return found


def _spelled_out(path: str) -> Iterator[str]:
    """Yield a path once for each word that a part of it may be."""
    choice = re.search(r"\{\w+:([a-z]+(?:\|[a-z]+)*)\}", path)
    if choice is None:
        yield re.sub(r"\{(\w+):[^}]*\}", r"{\1}", path)
        return
    for word in choice[1].split("|"):
        yield path.replace(choice[0], word)


def _request_keys() -> Iterator[str]:
    """Yield the keys of a body that describes a stack: those that the API or the engine takes out of it."""
    yield from stacks.InstantiationData.PARAMS
    names = set(re.findall(r"rpc_api\.(PARAM_\w+)", inspect.getsource(api.extract_args)))
    names |= set(re.findall(r"\bargs\.get\(rpc_api\.(PARAM_\w+)", inspect.getsource(service)))
    # A body that has this one has it from the API: it is the difference between PATCH and PUT.
    yield from sorted({getattr(rpc_api, name) for name in names} - {rpc_api.PARAM_EXISTING})


# -- templates -------------------------------------------------------------------------------------


def _templates() -> Iterator[tuple[str, Any]]:
    """Yield the class of each version, by its date."""
    for item in sorted(entry_points(group="heat.templates"), key=lambda item: item.name):
        date = item.name.partition(".")[2]
        if date[0].isdigit():
            yield date, item.load()


def _by_version(names_of: Any) -> dict[str, list[str]]:
    """Return names, each with the versions that know it."""
    found: dict[str, list[str]] = {}
    for date, template in _templates():
        for name in names_of(template):
            found.setdefault(name, []).append(date)
    return {name: sorted(dates) for name, dates in sorted(found.items())}


def _functions(template: Any) -> Iterator[str]:
    """Yield functions, but not those that a version knows only to refuse them."""
    for name, function in template.functions.items():
        if function is not hot_functions.Removed:
            yield name


def _schema(template: Any) -> Any:
    """Return the class that reads a parameter's declaration: CloudFormation's is the base of the others."""
    return getattr(template, "param_schema_class", parameters.Schema)


def _template_keys(template: Any) -> Iterator[str]:
    """Yield sections, and the keys of parameters, resources and outputs; not that of the version."""
    for name in template.SECTIONS:
        if "ersion" not in name and not name.startswith("__"):
            yield name
    for section, keys in (
        (template.PARAMETERS, _schema(template).PARAMETER_KEYS),
        (template.RESOURCES, template._RESOURCE_KEYS),  # noqa: SLF001 - nothing else lists them
        (template.OUTPUTS, template.OUTPUT_KEYS),
    ):
        for key in keys:
            yield f"{section}.*.{key}"


CONSTRAINTS = {
    "length": ("string", {"min": 1}),
    "range": ("number", {"min": 1}),
    "modulo": ("number", {"step": 2, "offset": 1}),
    "allowed_values": ("string", ["a"]),
    "allowed_pattern": ("string", "a"),
    "custom_constraint": ("string", "ip_addr"),
}


def _constraints(template: Any) -> Iterator[str]:
    """Yield the kinds of constraints that a version takes; CloudFormation's are keys of a parameter."""
    schema = _schema(template)
    if schema is parameters.Schema:
        return
    for kind in hot_parameters.PARAM_CONSTRAINTS:
        if kind == hot_parameters.DESCRIPTION:
            continue
        type_, setting = CONSTRAINTS[kind]
        with contextlib.suppress(Exception):
            schema.from_dict("it", {"type": type_, "constraints": [{kind: setting}]})
            yield kind


# -- environments ----------------------------------------------------------------------------------


def _registry_entries() -> Iterator[str]:
    """Yield the kinds of what an entry makes stand behind a type."""
    base = environment.ResourceInfo
    for name, value in (("Some::Type", "Other::Type"), ("Some::*", "Other::*"), ("Some::Type", "some.yaml")):
        # Only the choice is asked for: making one would read the template.
        yield type(base.__new__(base, None, [name], value)).description


# -- plugins ---------------------------------------------------------------------------------------


def _types() -> Iterator[tuple[str, Any]]:
    for module in plugin_loader.load_modules(resources):
        mapping = getattr(module, "available_resource_mapping", None) or getattr(
            module, "resource_mapping", None
        )
        if mapping is not None:
            yield from sorted(mapping().items())


def _plugins() -> set[Any]:
    """Return every class of Heat's that derives from the base of all resources."""
    found: set[Any] = set()
    fresh: set[Any] = {resource.Resource}
    while fresh:
        fresh = {below for class_ in fresh for below in class_.__subclasses__()} - found
        found |= fresh
    return found


def _hooks() -> list[str]:
    """Return the names that classes of Heat's own plugins override, or have because the base asks for them.

    The base asks by an attribute that it does not have itself, or by a name that
    it puts together: ``handle_...``, ``check_..._complete``.  What it has for them to
    declare, a plain value of the class, is a hook whether one of them does or not.
    """
    asked = re.compile(r"handle_\w+|check_\w+_complete")
    read = set(re.findall(r"\b(?:self|cls|resource_class)\.(\w+)", inspect.getsource(resource)))
    known = _defined() | read
    return sorted(
        {
            name
            for class_ in _plugins()
            for layer in set(class_.__mro__) - set(resource.Resource.__mro__)
            for name in vars(layer)
            if not (name.startswith("__") or name.isupper()) and (name in known or asked.fullmatch(name))
        }
        | _declared()
    )


def _declared() -> set[str]:
    """Return the plain values that the base of all plugins has for them to declare others."""
    return {
        name
        for name, value in vars(resource.Resource).items()
        if not (name.startswith(("_", "base_")) or name.isupper() or inspect.isroutine(value))
        and not isinstance(value, property)
    }


def _helpers() -> list[str]:
    """Return what at least two modules of Heat's own plugins use of the base, apart from hooks."""
    plugins = {class_.__name__ for class_ in _plugins()}
    used: Counter[str] = Counter()
    for path in Path(resources.__file__).parent.rglob("*.py"):
        classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
        used.update({name for node in classes if node.name in plugins for name in _own_uses(node)})
    made = set(re.findall(r"self\.(\w+) =", inspect.getsource(resource.Resource.__init__)))
    known = (_defined() | made) - set(_hooks())
    return sorted(name for name, times in used.items() if times > 1 and name in known)


def _own_uses(class_: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes of their object that the methods of a class use."""
    for node in ast.walk(class_):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr


def _defined() -> set[str]:
    return {name for class_ in resource.Resource.__mro__[:-1] for name in vars(class_)}


if __name__ == "__main__":
    cfg.CONF([], project="heat", default_config_files=[])
    messaging.setup("fake://")
    print(HEADER, end="")
    yaml.safe_dump(surface(), sys.stdout, default_flow_style=None, sort_keys=False, width=100)
