# SPDX-License-Identifier: Apache-2.0
"""The versions of the template language, and what each of them has.

One table: each version adds functions to those of the version before it (an
equal name replaces), and may take some away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heatconv.errors import Invalid
from heatconv.template import forms
from heatconv.template.evaluator import Form, Functions
from heatconv.template.functions import legacy, lists, query, text
from heatconv.template.functions.arguments import Function
from heatconv.template.problems import excerpt

VERSION_KEY = "heat_template_version"
_FOREIGN_KEYS = ("AWSTemplateFormatVersion", "HeatTemplateFormatVersion")

_SECTIONS: dict[str, type] = {
    VERSION_KEY: str,
    "description": str,
    "parameter_groups": list,
    "parameters": dict,
    "resources": dict,
    "outputs": dict,
}


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of the template language."""

    name: str
    alias: str = ""
    functions: Functions
    condition_functions: Functions = field(default_factory=dict)
    parameter_tags: bool = False

    @property
    def sections(self) -> dict[str, type]:
        """The sections that a template may have, and their types."""
        return _SECTIONS | ({"conditions": dict} if self.has_conditions else {})

    @property
    def has_conditions(self) -> bool:
        """Whether there are conditions, external ids and lower-case deletion policies."""
        return bool(self.condition_functions)


def version_of(template: Mapping[str, Any]) -> Version:
    """Return the version that a template is written in, by date or alias.

    Raises:
        Invalid: it does not say, says it twice, or the version is unknown.
    """
    foreign = [key for key in _FOREIGN_KEYS if key in template]
    known = ", ".join(f"{v.name} ({v.alias})" if v.alias else v.name for v in _VERSIONS)
    if foreign:
        text = "there has to be exactly one version key" if VERSION_KEY in template else "it is not supported"
        sentence = f"Use '{VERSION_KEY}' instead of '{foreign[0]}': {text}."
        raise Invalid(problems=[(foreign[0], sentence)])
    if VERSION_KEY not in template:
        raise Invalid(problems=[("", f"The template has no '{VERSION_KEY}'; known versions are {known}.")])
    name = template[VERSION_KEY]
    version = _BY_NAME.get(name) if isinstance(name, str) else None
    if version is None:
        sentence = f"{excerpt(name)} is not a known version; known versions are {known}."
        raise Invalid(problems=[(VERSION_KEY, sentence)])
    return version


def versions() -> list[tuple[str, list[str]]]:
    """Return every version with its aliases, oldest first."""
    return [(version.name, [version.alias] if version.alias else []) for version in _VERSIONS]


def functions_of(version: str, with_conditions: bool = False) -> list[tuple[str, str]]:  # noqa: FBT001, FBT002
    """Return the functions of a version by name, each with a line about it.

    Raises:
        KeyError: there is no such version.
    """
    found = _BY_NAME[version]
    tables = [found.functions, found.condition_functions if with_conditions else {}]
    listed = {
        name: entry.summary
        for table in tables
        for name, entry in table.items()
        if isinstance(entry, Function) or entry.listed
    }
    return sorted(listed.items())


# -- the table -----------------------------------------------------------------------------------

_CONDITIONS = (forms.get_param, forms.equals, forms.negation, forms.conjunction, forms.disjunction)
_MORE_CONDITIONS = (*_CONDITIONS, query.yaql, lists.contains)
_CLOUDFORMATION = (
    legacy.fn_join,
    legacy.fn_split,
    legacy.fn_replace,
    legacy.fn_base64,
    legacy.fn_get_azs,
    legacy.fn_member_list_to_map,
)


@dataclass(frozen=True, kw_only=True)
class _Step:
    name: str
    alias: str = ""
    adds: tuple[Function | Form, ...] = ()
    removes: tuple[str, ...] = ()
    conditions: tuple[Function | Form, ...] = ()
    parameter_tags: bool = False


_STEPS = (
    _Step(
        name="2013-05-23",
        adds=(
            forms.get_param,
            forms.get_resource,
            forms.get_attr_then_select,
            forms.get_file,
            forms.resource_facade,
            text.list_join_one,
            text.str_replace_plain,
            forms.ref,
            forms.fn_resource_facade,
            legacy.fn_select,
            *_CLOUDFORMATION,
        ),
    ),
    _Step(
        name="2014-10-16",
        adds=(forms.get_attr_path,),
        removes=("Ref", "Fn::ResourceFacade", *(function.name for function in _CLOUDFORMATION)),
    ),
    _Step(name="2015-04-30", adds=(lists.repeat_lists, text.digest)),
    _Step(
        name="2015-10-15",
        adds=(text.str_split, text.list_join, text.str_replace, forms.get_attr),
        removes=("Fn::Select",),
    ),
    _Step(name="2016-04-08", adds=(lists.map_merge,)),
    _Step(
        name="2016-10-14",
        alias="newton",
        adds=(query.yaql, lists.map_replace, forms.if_else, lists.repeat_maps),
        conditions=_CONDITIONS,
    ),
    _Step(
        name="2017-02-24",
        alias="ocata",
        adds=(lists.filter_list, text.str_replace_strict),
        conditions=_CONDITIONS,
    ),
    _Step(
        name="2017-09-01",
        alias="pike",
        adds=(
            text.make_url,
            lists.list_concat,
            lists.list_concat_unique,
            text.str_replace_vstrict,
            lists.contains,
            lists.repeat,
        ),
        conditions=_MORE_CONDITIONS,
    ),
    _Step(name="2018-03-02", alias="queens", conditions=_MORE_CONDITIONS, parameter_tags=True),
    _Step(name="2018-08-31", alias="rocky", conditions=_MORE_CONDITIONS, parameter_tags=True),
    _Step(
        name="2021-04-16",
        alias="wallaby",
        adds=(forms.if_dropping,),
        conditions=_MORE_CONDITIONS,
        parameter_tags=True,
    ),
)


def _build(steps: tuple[_Step, ...]) -> tuple[Version, ...]:
    result = []
    functions: dict[str, Function | Form] = {}
    for step in steps:
        functions = functions | {entry.name: entry for entry in step.adds}
        for name in step.removes:
            sentence = f"{name} is not available in version {step.name} and later; use HOT's own functions."
            functions[name] = forms.forbidden(name, sentence)
        result.append(
            Version(
                name=step.name,
                alias=step.alias,
                functions=functions,
                condition_functions=_condition_functions(functions, step.conditions),
                parameter_tags=step.parameter_tags,
            )
        )
    return tuple(result)


def _condition_functions(functions: Functions, allowed: tuple[Function | Form, ...]) -> Functions:
    """Return what conditions may use; the other functions are mistakes there, not literals."""
    if not allowed:
        return {}
    table: dict[str, Function | Form] = {entry.name: entry for entry in allowed}
    names = ", ".join(table)
    for name in functions:
        if name not in table:
            table[name] = forms.forbidden(name, f"A condition cannot use {name}; it can use {names}.")
    return table


_VERSIONS = _build(_STEPS)
_BY_NAME = {version.name: version for version in _VERSIONS} | {
    version.alias: version for version in _VERSIONS if version.alias
}

#: Every function that frozen definitions can name, by that name.
RUN_TIME_FUNCTIONS = {
    entry.key: entry for step in _STEPS for entry in step.adds if isinstance(entry, Function)
} | {entry.key: entry for entry in forms.RUN_TIME}
