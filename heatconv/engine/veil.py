# SPDX-License-Identifier: Apache-2.0
"""What describes a stack, as it may be shown: without the values of hidden parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from heatconv import errors, template
from heatconv.model.records import RawTemplate
from heatconv.model.secrets import HIDDEN, masked_text, redacted, texts_in

Json = dict[str, Any]

LONG = 8  #: characters of a secret from which on it is looked for anywhere in a file

#: Where templates declare parameters, and by which keys: of HOT, and of CloudFormation's language.
_LANGUAGES = (("parameters", "hidden", "default"), ("Parameters", "NoEcho", "Default"))
_VALUES = ("parameters", "parameter_defaults")  #: where environments have values of parameters


class Veil:
    """Hides what is hidden in a template, in those nested in it, and in the environment of them all."""

    def __init__(self, raw: RawTemplate) -> None:
        self._raw = raw
        declared = [*_declared(raw.template)]
        for text in raw.files.values():
            declared.extend(_declared(_parsed(text)))
        self._names = {name for name, hidden, _default in declared if hidden}
        self._names.update(raw.environment.get("encrypted_param_names") or ())
        given = [default for name, _hidden, default in declared if name in self._names]
        for section in _VALUES:
            values = raw.environment.get(section) or {}
            given += [values.get(name) for name in self._names]
        self.secrets = frozenset(texts_in(given))

    def template(self) -> Json:
        """Return the template; what it says of hidden parameters lacks their defaults."""
        return _without_defaults(self._raw.template, self._names)

    def environment(self) -> Json:
        """Return the environment with the values of hidden parameters masked."""
        shown = dict(self._raw.environment)
        for section in _VALUES:
            values = shown.get(section) or {}
            shown[section] = {
                name: HIDDEN if name in self._names else value for name, value in values.items()
            }
        return shown

    def files(self) -> dict[str, str]:
        """Return the files; among them may be environments, and templates with parameters of their own."""
        return {path: self._without_values(text) for path, text in self._raw.files.items()}

    def snapshot(self, data: Mapping[str, Any]) -> Json:
        """Return the data of a snapshot of which this is the template."""
        parts = {name: _without_notes(part) for name, part in (data.get("resources") or {}).items()}
        return {
            **data,
            "template": self.template(),
            "environment": self.environment(),
            "files": self.files(),
            "resources": parts,
        }

    def _without_values(self, text: str) -> str:
        # A short one may read like anything: it is known by its parameter's name, or by standing alone.
        text = masked_text(text, (secret for secret in self.secrets if len(secret) >= LONG))
        for pattern in self._places:
            text = pattern.sub(rf"\1'{HIDDEN}'", text)
        return text

    @cached_property
    def _places(self) -> list[re.Pattern[str]]:
        """Where a line of YAML or JSON has the value of a hidden parameter, each as what is before it."""
        names = _any_of(self._names)
        short = _any_of(secret for secret in self.secrets if 0 < len(secret) < LONG)
        after_name = rf"""(?m)((?:^|[\s{{,])["']?(?:{names})["']?[ \t]*:[ \t]+)(?![{{\[|>])\S.*"""
        alone = rf"""(?m)([:-][ \t]+)(["']?)(?:{short})\2(?=[ \t]*(?:[,}}\]]|$))"""
        return [re.compile(pattern) for pattern, what in ((after_name, names), (alone, short)) if what]


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _declared(document: Any) -> Iterator[tuple[str, bool, Any]]:
    """Yield each parameter of a template: its name, whether it is hidden, and its default."""
    for section, hidden, default in _LANGUAGES:
        parameters = document.get(section) if isinstance(document, Mapping) else None
        for name, schema in parameters.items() if isinstance(parameters, Mapping) else ():
            if isinstance(schema, Mapping):
                yield name, str(schema.get(hidden)).lower() in _TRUE, schema.get(default)


_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})


def _parsed(text: str) -> Any:
    """Return the data of a file if it may be a template with something hidden in it."""
    if not any(hidden in text for _section, hidden, _default in _LANGUAGES):
        return None
    try:
        return template.load_yaml(text, "The file", limit=len(text.encode()))
    except errors.Invalid:
        return None


def _without_defaults(document: Mapping[str, Any], names: Iterable[str]) -> Json:
    shown = dict(document)
    for section, _hidden, default in _LANGUAGES:
        if isinstance(shown.get(section), Mapping):
            shown[section] = {
                name: {**schema, default: HIDDEN} if name in names and default in schema else schema
                for name, schema in shown[section].items()
            }
    return shown


def _without_notes(part: Mapping[str, Any]) -> Json:
    """Return a resource's part of a snapshot with its plugin's redacted notes masked."""
    notes = part.get("resource_data") or {}
    return {**part, "resource_data": {**notes, **dict.fromkeys(redacted(notes) & notes.keys(), HIDDEN)}}
