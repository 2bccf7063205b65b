# SPDX-License-Identifier: Apache-2.0
"""What describes a stack, as it may be shown: without the values of hidden parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol

from heatconv import errors, template
from heatconv.model.secrets import HIDDEN, masked, masked_text, redacted, texts_in

Json = dict[str, Any]

LONG = 8  #: characters of a secret from which on it is looked for anywhere in a file

MOST_PLACES = 500  #: names and values that are looked for in a file; of more, files are not shown

#: Where templates declare parameters, and by which keys: of HOT, and of CloudFormation's language.
_LANGUAGES = (("parameters", "hidden", "default"), ("Parameters", "NoEcho", "Default"))
_VERSIONS = ("heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion")
_VALUES = ("parameters", "parameter_defaults")  #: where environments have values of parameters


class Description(Protocol):
    """What describes a stack: a ``RawTemplate``, a ``Source``."""

    @property
    def template(self) -> Mapping[str, Any]:
        """The template."""

    @property
    def environment(self) -> Mapping[str, Any]:
        """The merged environment."""

    @property
    def files(self) -> Mapping[str, str]:
        """The files by name."""


class Redaction:
    """Hides what is hidden in a template, in those nested in it, and in the environment of them all.

    ``names`` are those of the hidden parameters, ``secrets`` the texts in their values.
    """

    def __init__(self, raw: Description) -> None:
        self._raw = raw
        files = [_parsed(text) for text in raw.files.values()]
        declared = [found for document in (raw.template, *files) for found in _declared(document)]
        self.names = {name for name, hidden, _default in declared if hidden}
        self.names.update(raw.environment.get("encrypted_param_names") or ())
        given = [default for name, _hidden, default in declared if name in self.names]
        # A file that is an environment may be out of date, and has what was hidden then.
        for environment in (raw.environment, *(each for each in files if not _is_template(each))):
            for section in _VALUES:
                values = _map(environment, section)
                given += [values.get(name) for name in self.names]
            given += [sink.get("secret") for sink in _sinks(environment)]
        self.secrets = frozenset(texts_in(given))

    def template(self) -> Json:
        """Return the template; what it says of hidden parameters lacks their defaults."""
        return _without_defaults(self._raw.template, self.names)

    def environment(self) -> Json:
        """Return the environment with the values of hidden parameters masked."""
        shown = dict(self._raw.environment)
        for section in _VALUES:
            values = shown.get(section) or {}
            shown[section] = {name: HIDDEN if name in self.names else value for name, value in values.items()}
        if sinks := shown.get("event_sinks"):
            shown["event_sinks"] = [
                {**each, "secret": HIDDEN} if "secret" in each else each for each in sinks
            ]
        return shown

    def files(self) -> dict[str, str]:
        """Return the files; among them may be environments, and templates with parameters of their own."""
        return {path: self._without_values(text) for path, text in self._raw.files.items()}

    def snapshot(self, data: Mapping[str, Any]) -> Json:
        """Return the data of a snapshot of which this is the template."""
        parts = {name: self._part(part) for name, part in (data.get("resources") or {}).items()}
        return {
            **data,
            "template": self.template(),
            "environment": self.environment(),
            "files": self.files(),
            "resources": parts,
        }

    def _part(self, part: Mapping[str, Any]) -> Json:
        """Return a resource's part of a snapshot, without what its plugin redacts."""
        notes = part.get("resource_data") or {}
        hidden = dict.fromkeys(redacted(notes) & notes.keys(), HIDDEN)
        shown = masked({"metadata": part.get("metadata"), "resource_data": {**notes, **hidden}}, self.secrets)
        return {**part, **shown}

    def _without_values(self, text: str) -> str:
        if len(self.names) + len(self.secrets) > MOST_PLACES:
            return HIDDEN
        # A short one may read like anything: it is known by its parameter's name, or by standing alone.
        text = masked_text(text, (secret for secret in self.secrets if len(secret) >= LONG))
        for pattern in self._places:
            text = pattern.sub(rf"\1'{HIDDEN}'", text)
        return text

    @cached_property
    def _places(self) -> list[re.Pattern[str]]:
        """Where a line of YAML or JSON has the value of a hidden parameter, each as what is before it."""
        names = _any_of(self.names)
        short = _any_of(secret for secret in self.secrets if 0 < len(secret) < LONG)
        after_name = rf"""(?m)((?:^|[\s{{,])["']?(?:{names})["']?[ \t]*:[ \t]+)(?![{{\[|>])\S.*"""
        alone = rf"""(?m)([:-][ \t]+)(["']?)(?:{short})\2(?=[ \t]*(?:[,}}\]]|$))"""
        return [re.compile(pattern) for pattern, what in ((after_name, names), (alone, short)) if what]


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _declared(document: Any) -> Iterator[tuple[str, bool, Any]]:
    """Yield each parameter of a template: its name, whether it is hidden, and its default."""
    for section, hidden, default in _LANGUAGES:
        for name, schema in _map(document, section).items():
            if isinstance(schema, Mapping):
                yield name, str(schema.get(hidden)).lower() in _TRUE, schema.get(default)


_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})


def _parsed(text: str) -> Any:
    """Return the data of a file if it may have parameters, or values of some."""
    if not any(section in text for section in (*_VALUES, "Parameters", "event_sinks")):
        return None
    try:
        return template.load_yaml(text, "The file", limit=len(text.encode()))
    except errors.Invalid:
        return None


def _is_template(document: Any) -> bool:
    return isinstance(document, Mapping) and any(key in document for key in _VERSIONS)


def _map(document: Any, section: str) -> Mapping[str, Any]:
    """Return the section of a document, empty if there is no such map."""
    found = document.get(section) if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _sinks(environment: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the event sinks of what may be an environment."""
    found = environment.get("event_sinks") if isinstance(environment, Mapping) else None
    yield from (sink for sink in found if isinstance(sink, Mapping)) if isinstance(found, list) else ()


def _without_defaults(document: Mapping[str, Any], names: Iterable[str]) -> Json:
    shown = dict(document)
    for section, _hidden, default in _LANGUAGES:
        if isinstance(shown.get(section), Mapping):
            shown[section] = {
                name: {**schema, default: HIDDEN} if name in names and default in schema else schema
                for name, schema in shown[section].items()
            }
    return shown
