# SPDX-License-Identifier: Apache-2.0
"""The versions of the template languages, and what each of them has.

HOT is one table: each version adds functions to those of the version before it
(an equal name replaces), and may take some away.  The versions of
CloudFormation's language stand for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from heatconv.errors import Invalid
from heatconv.template import forms
from heatconv.template.evaluator import Form, Functions
from heatconv.template.functions import legacy, lists, query, text
from heatconv.template.functions.arguments import Function
from heatconv.template.problems import excerpt

VERSION_KEY = "heat_template_version"

_HOT_SECTIONS: dict[str, type] = {
    VERSION_KEY: str,
    "description": str,
    "parameter_groups": list,
    "parameters": dict,
    "resources": dict,
    "outputs": dict,
}
_CFN_SECTIONS: dict[str, type] = {
    "Description": str,
    "Mappings": dict,
    "Parameters": dict,
    "Resources": dict,
    "Outputs": dict,
}
#: The types of parameters, and their names in CloudFormation's language.
PARAMETER_TYPES = {
    "string": "String",
    "number": "Number",
    "comma_delimited_list": "CommaDelimitedList",
    "json": "Json",
    "boolean": "Boolean",
}


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of a template language."""

    key: str = VERSION_KEY  #: of a template, that names the version
    name: str
    alias: str = ""
    functions: Functions
    condition_functions: Functions = field(default_factory=dict)

    @property
    def language(self) -> Literal["hot", "cfn"]:
        """The language: HOT or CloudFormation's."""
        return "hot" if self.key == VERSION_KEY else "cfn"

    @property
    def full_names(self) -> list[str]:
        """The names by which to ask for its functions; the first is the version's, the rest are aliases."""
        return [f"{self.key}.{name}" for name in (self.name, self.alias) if name]

    @property
    def sections(self) -> dict[str, type]:
        """The sections that a template may have, and their types."""
        conditions = {"conditions": dict} if self.language == "hot" else {"Conditions": dict}
        words = _HOT_SECTIONS if self.language == "hot" else {self.key: str} | _CFN_SECTIONS
        return words | (conditions if self.has_conditions else {})

    @property
    def parameter_types(self) -> dict[str, str]:
        """The types that parameters may have, by the words for them."""
        return {type_ if self.language == "hot" else word: type_ for type_, word in PARAMETER_TYPES.items()}

    @property
    def pseudo_parameters(self) -> tuple[str, ...]:
        """The names of the parameters that every template has."""
        if self.language == "hot":
            return ("OS::stack_name", "OS::stack_id", "OS::project_id")
        return ("AWS::StackName", "AWS::StackId", "AWS::Region")

    @property
    def has_conditions(self) -> bool:
        """Whether there are conditions."""
        return bool(self.condition_functions)

    @property
    def has_external_ids(self) -> bool:
        """Whether resources may stand for something that was there before; came with lower-case policies."""
        return self._is_since("2016-10-14")

    @property
    def has_modulo(self) -> bool:
        """Whether parameters may have a modulo constraint."""
        return self._is_since("2017-02-24")

    @property
    def has_tags(self) -> bool:
        """Whether parameters may have tags."""
        return self._is_since("2018-03-02")

    def _is_since(self, name: str) -> bool:
        return self.language == "hot" and self.name >= name


def version_of(template: Mapping[str, Any]) -> Version:
    """Return the version that a template is written in, by date or alias.

    Raises:
        Invalid: it does not say, says it twice, or the version is unknown.
    """
    keys = [key for key in _BY_NAME if key in template]
    if not keys:
        raise Invalid(problems=[("", f"The template has no '{VERSION_KEY}'; {_known(VERSION_KEY)}.")])
    if len(keys) > 1:
        sentence = f"A template has exactly one version; leave out '{keys[0]}' or '{keys[1]}'."
        raise Invalid(problems=[(keys[1], sentence)])
    (key,) = keys
    name = template[key]
    version = _BY_NAME[key].get(name) if isinstance(name, str) else None
    if version is None:
        sentence = f"The template version is invalid: {excerpt(name)} is not a known version; {_known(key)}."
        raise Invalid(problems=[(key, sentence)])
    return version


def _known(key: str) -> str:
    names = [
        f"{version.name} ({version.alias})" if version.alias else version.name
        for version in _VERSIONS
        if version.key == key
    ]
    return f"known versions are {', '.join(names)}" if len(names) > 1 else f"the known version is {names[0]}"


def versions() -> tuple[Version, ...]:
    """Return every version: HOT's, oldest first, then CloudFormation's."""
    return _VERSIONS


def functions_of(version: str, with_conditions: bool = False) -> list[tuple[str, str]]:  # noqa: FBT001, FBT002
    """Return the functions of a version (one of its full names) by name, each with a line about it.

    Raises:
        KeyError: there is no such version.
    """
    key, _, name = version.partition(".")
    found = _BY_NAME[key][name]
    tables = [found.condition_functions if with_conditions else {}, found.functions]
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
    _Step(
        name="2018-03-02",
        alias="queens",
        conditions=_MORE_CONDITIONS,
    ),
    _Step(
        name="2018-08-31",
        alias="rocky",
        conditions=_MORE_CONDITIONS,
    ),
    _Step(
        name="2021-04-16",
        alias="wallaby",
        adds=(forms.if_dropping,),
        conditions=_MORE_CONDITIONS,
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


_CFN_FUNCTIONS = {
    entry.name: entry
    for entry in (
        forms.ref,
        forms.fn_get_att,
        forms.fn_find_in_map,
        forms.fn_resource_facade,
        legacy.fn_select,
        *_CLOUDFORMATION,
    )
}
_CFN_CONDITIONS = (
    forms.parameter_ref,
    forms.fn_find_in_map,
    forms.fn_equals,
    forms.fn_not,
    forms.fn_and,
    forms.fn_or,
)
_CFN_FUNCTIONS_2010 = _CFN_FUNCTIONS | {forms.fn_if.name: forms.fn_if}

_VERSIONS = (
    *_build(_STEPS),
    Version(
        key="AWSTemplateFormatVersion",
        name="2010-09-09",
        functions=_CFN_FUNCTIONS_2010,
        condition_functions=_condition_functions(_CFN_FUNCTIONS_2010, _CFN_CONDITIONS),
    ),
    Version(key="HeatTemplateFormatVersion", name="2012-12-12", functions=_CFN_FUNCTIONS),
)
_BY_NAME: dict[str, dict[str, Version]] = {}
for _version in _VERSIONS:
    _names = _BY_NAME.setdefault(_version.key, {})
    _names |= {name: _version for name in (_version.name, _version.alias) if name}

#: Every function that frozen definitions can name, by that name.
RUN_TIME_FUNCTIONS = {
    entry.key: entry for step in _STEPS for entry in step.adds if isinstance(entry, Function)
} | {entry.key: entry for entry in forms.RUN_TIME}
