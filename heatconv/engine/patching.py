# SPDX-License-Identifier: Apache-2.0
"""What a user sends, laid over what is there: a PATCH over a stack, a create over what it adopts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heatconv.engine import freezing
from heatconv.engine.redaction import Redaction
from heatconv.engine.source import Source
from heatconv.engine.unmasking import unmasked
from heatconv.template.cloudformation import in_hot_words

Json = Mapping[str, Any]


def lay_over(before: Source, sent: Json, *, max_template_size: int) -> Source:
    """Return a source with what was sent, and everything else as it was before.

    Values that are kept stay behind where the template has no such parameter any
    more, or ``clear_parameters`` names it.  Those that were hidden stay hidden,
    whatever the new template says of their parameters; and what was sent as it is shown,
    masked, stays what it was.

    Raises:
        Invalid: what was sent is no template or no environment.
    """
    given = freezing.parse(
        {
            "template": sent.get("template") or before.template,
            "environment": sent.get("environment"),
            "environment_files": sent.get("environment_files"),
            "files": {**before.files, **(sent.get("files") or {})},
            "parameters": sent.get("parameters"),
        },
        max_template_size=max_template_size,
    )
    given = unmasked(given, before)
    declared = in_hot_words(given.template)[1].get("parameters") or {}
    kept = {
        name: value
        for name, value in _section(before, "parameters").items()
        if name in declared and name not in (sent.get("clear_parameters") or ())
    }
    defaults = _section(before, "parameter_defaults")
    environment = {
        **before.environment,
        "parameters": kept | given.environment["parameters"],
        "parameter_defaults": defaults | given.environment["parameter_defaults"],
        "resource_registry": _joined(
            _section(before, "resource_registry"), given.environment["resource_registry"]
        ),
        "encrypted_param_names": _names(before.environment, given.environment),
        "event_sinks": given.environment["event_sinks"] or before.environment.get("event_sinks") or [],
        **_laid_over(before, given, "guards"),
    }
    after = replace(before, template=given.template, environment=environment, files=given.files)
    still = (kept.keys() - given.environment["parameters"].keys()) | (
        defaults.keys() - given.environment["parameter_defaults"].keys()
    )
    shown = (still & Redaction(before).names) - Redaction(after).names if still else set()
    if not shown:
        return after
    hidden = sorted({*environment["encrypted_param_names"], *shown})
    return replace(after, environment={**environment, "encrypted_param_names": hidden})


def _section(source: Source, name: str) -> dict[str, Any]:
    return dict(source.environment.get(name) or {})


def _laid_over(before: Source, given: Source, name: str) -> dict[str, Any]:
    """Return a section as it was with what was given laid over it; nothing if it says nothing."""
    section = {**(before.environment.get(name) or {}), **(given.environment.get(name) or {})}
    return {name: section} if section else {}


def _names(before: Json, given: Json) -> list[str]:
    """Return the names of parameters that an environment hides, and those that one laid over it does."""
    known = before.get("encrypted_param_names") or []
    return [*known, *(name for name in given["encrypted_param_names"] if name not in known)]


def _joined(before: Json, given: Json) -> dict[str, Any]:
    """Return two maps as one, and maps in them likewise."""
    joined = dict(before)
    for key, value in given.items():
        old = joined.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            joined[key] = _joined(old, value)
        else:
            joined[key] = value
    return joined
