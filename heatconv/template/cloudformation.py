# SPDX-License-Identifier: Apache-2.0
"""CloudFormation templates in HOT's words.

The languages differ in words more than in meaning.  So a CloudFormation
template is renamed into HOT and evaluated as such, and the places of its
mistakes are renamed back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heatconv.template.problems import Problems, Step, path_of
from heatconv.template.versions import Version, version_of

_SECTIONS = {
    "Description": "description",
    "Mappings": "mappings",
    "Parameters": "parameters",
    "Conditions": "conditions",
    "Resources": "resources",
    "Outputs": "outputs",
}
#: What entries of a section may say, by section.
_KEYS = {
    "parameters": {
        "Type": "type",
        "Label": "label",
        "Description": "description",
        "Default": "default",
        "NoEcho": "hidden",
    },
    "resources": {
        "Type": "type",
        "Properties": "properties",
        "Metadata": "metadata",
        "DependsOn": "depends_on",
        "DeletionPolicy": "deletion_policy",
        "UpdatePolicy": "update_policy",
        "Description": "description",
    },
    "outputs": {"Value": "value", "Description": "description"},
}
_CONDITION = {"Condition": "condition"}  # where there are conditions, of resources and outputs
_CONSTRAINTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "MinLength": lambda value: {"length": {"min": value}},
    "MaxLength": lambda value: {"length": {"max": value}},
    "MinValue": lambda value: {"range": {"min": value}},
    "MaxValue": lambda value: {"range": {"max": value}},
    "AllowedValues": lambda value: {"allowed_values": value},
    "AllowedPattern": lambda value: {"allowed_pattern": value},
}
_DESCRIPTION = "ConstraintDescription"

_SECTION_WORDS = {hot: word for word, hot in _SECTIONS.items()}
_KEY_WORDS = {
    section: {hot: word for word, hot in (keys | _CONDITION).items()} for section, keys in _KEYS.items()
}

_KEY = "|".join(sorted({key for words in _KEY_WORDS.values() for key in words}))
_PATH = re.compile(
    rf"(?P<section>resources|outputs)\.(?P<name>.+?)(?:\.(?P<key>{_KEY})(?P<rest>[.\[].*)?)?\Z", re.DOTALL
)


def in_hot_words(template: Mapping[str, Any]) -> tuple[Version, Mapping[str, Any], Problems]:
    """Return the version of a template, the template in HOT's words, and where to report its mistakes."""
    version = version_of(template)
    if version.language == "hot":
        return version, template, Problems()
    renaming = Renaming(template, version)
    return version, renaming.template, renaming.problems


class Renaming:
    """A CloudFormation template in HOT's words, and the way back for its mistakes."""

    def __init__(self, template: Mapping[str, Any], version: Version) -> None:
        """Rename a template that ``load_template`` returned; words that it cannot use are reported."""
        self.problems = Problems(self.spelled)
        self._constraints: dict[str, list[str]] = {}  # those of each parameter, in order
        self.template = {_SECTIONS[word]: part for word, part in template.items() if word != version.key}
        for section, keys in _KEYS.items():
            known = keys | (_CONDITION if version.has_conditions and section != "parameters" else {})
            entries = self.template.get(section) or {}
            with self.problems.at(section):
                self.template[section] = {
                    name: self._entry(section, name, entry, known) for name, entry in entries.items()
                }

    def spelled(self, trail: Sequence[Step]) -> list[Step]:
        """Return a way through the renamed template as the way through the original."""
        match trail:
            case ["parameters", str(name), "constraints", int(index), *_]:
                return [_SECTION_WORDS["parameters"], name, self._constraints[name][index]]
            case _:
                return _spelled(trail)

    def _entry(self, section: str, name: str, entry: Any, keys: Mapping[str, str]) -> Any:
        if not isinstance(entry, dict):
            return entry
        known = [*keys, *((*_CONSTRAINTS, _DESCRIPTION) if section == "parameters" else ())]
        for key in entry:
            if key not in known:
                self.problems.report(f"There is no '{key}' here; there are {', '.join(known)}.", name, key)
        snippet = {keys[key]: value for key, value in entry.items() if key in keys}
        if section == "parameters":
            snippet["constraints"] = self._constraints_of(name, entry)
        return snippet

    def _constraints_of(self, name: str, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
        words = [word for word in _CONSTRAINTS if entry.get(word) is not None]
        self._constraints[name] = words
        description = {"description": entry[_DESCRIPTION]} if entry.get(_DESCRIPTION) else {}
        return [_CONSTRAINTS[word](entry[word]) | description for word in words]


def spelled_path(path: str) -> str:
    """Return the text of a path, into a resource or an output, in CloudFormation's words."""
    found = _PATH.match(path)
    if found is None:
        return path
    trail = [step for step in (found["section"], found["name"], found["key"]) if step is not None]
    return path_of(_spelled(trail)) + (found["rest"] or "")


def _spelled(trail: Sequence[Step]) -> list[Step]:
    match trail:
        case [str(section), name, str(key), *rest]:
            word = _KEY_WORDS.get(section, {}).get(key, key)
            return [_SECTION_WORDS.get(section, section), name, word, *rest]
        case [str(section), *rest]:
            return [_SECTION_WORDS.get(section, section), *rest]
    return []
