# SPDX-License-Identifier: Apache-2.0
"""What users send back as it was shown to them: a mask stands for what it is shown in place of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heatconv.engine.redaction import Redaction
from heatconv.engine.source import Source
from heatconv.model.secrets import HIDDEN

_VALUES = ("parameters", "parameter_defaults")  #: where environments have values of parameters
_DEFAULTS = {"parameters": "default", "Parameters": "Default"}  #: where templates have, in either language


def masked_names(sent: Source) -> set[str]:
    """Return the names of the parameters that have a mask for their value or their default."""
    values = [_map(sent.environment, section) for section in _VALUES]
    values += [_defaults(sent.template, section) for section in _DEFAULTS]
    return {name for each in values for name, value in each.items() if value == HIDDEN}


def unmasked(sent: Source, before: Source) -> Source:
    """Return what was sent for a stack, with what the stack has in place of each mask.

    That stays hidden, whatever was sent.  A mask that stands for nothing is left, and is refused when it is
    evaluated.
    """
    names = masked_names(sent) & Redaction(before).names
    if not names:
        return sent
    environment, template = dict(sent.environment), dict(sent.template)
    for section in _VALUES:
        sent_values, values = _map(environment, section), _map(before.environment, section)
        environment[section] = {**sent_values, **_meant(names, sent_values, values)}
    for section, key in _DEFAULTS.items():
        meant = _meant(names, _defaults(template, section), _defaults(before.template, section))
        if meant:
            schemas = template[section]
            changed = {name: {**schemas[name], key: value} for name, value in meant.items()}
            template[section] = {**schemas, **changed}
    hidden = names.union(environment.get("encrypted_param_names") or ())
    environment["encrypted_param_names"] = sorted(hidden)
    return replace(sent, template=template, environment=environment)


def _meant(names: set[str], sent: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of each of the names that was sent as a mask."""
    return {name: known[name] for name in names & known.keys() if sent.get(name) == HIDDEN}


def _defaults(template: Mapping[str, Any], section: str) -> dict[str, Any]:
    key = _DEFAULTS[section]
    return {
        name: schema[key]
        for name, schema in _map(template, section).items()
        if isinstance(schema, Mapping) and key in schema
    }


def _map(document: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    found = document.get(section)
    return found if isinstance(found, Mapping) else {}
