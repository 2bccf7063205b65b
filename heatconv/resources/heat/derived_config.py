# SPDX-License-Identifier: Apache-2.0
"""The config that a deployment derives for one run on one server, and the results that the server returns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heatconv.model.definition import canonical
from heatconv.model.software import OUTPUTS, STATUS_CODE, SoftwareConfig

Input = Mapping[str, Any]

#: Where the server is to answer; they are no part of the program that is run there.
SIGNAL_ID, SIGNAL_VERB = SIGNAL = ("deploy_signal_id", "deploy_signal_verb")


def inputs(declared: Sequence[Input], values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the inputs of a run: those declared, with their values, and those that only have a value."""
    names = {item["name"] for item in declared}
    valued = [{**item, "value": values.get(item["name"], item.get("default"))} for item in declared]
    return valued + [undeclared(name, value) for name, value in values.items() if name not in names]


def undeclared(name: str, value: Any, description: str | None = None) -> dict[str, Any]:
    """Return an input that the config does not declare."""
    item = {"name": name, "type": "String", "value": value}
    return item if description is None else item | {"description": description}


def replaces(before: Sequence[Input], after: Sequence[Input]) -> bool:
    """Tell whether a value changed of an input that says so: then the deployment is to be replaced."""
    values = {item["name"]: item.get("value") for item in before}
    return any(
        item.get("replace_on_change") and item["name"] in values and values[item["name"]] != item["value"]
        for item in after
    )


def with_digest(config: SoftwareConfig, *of: Any) -> SoftwareConfig:
    """Return a derived config with a digest of its content, and of ``of``, by which runs are told apart."""
    given = [item for item in config.inputs if item["name"] not in SIGNAL]
    what = [config.name, config.group, config.config, given, config.outputs, config.options, *of]
    # Not for security: it tells one run from another.
    return replace(config, run=hashlib.sha1(canonical(what).encode(), usedforsecurity=False).hexdigest())


@dataclass(frozen=True)
class Answer:
    """A server's answer to a run: the values of its outputs, and the reasons why it failed, if it did."""

    outputs: Mapping[str, Any]
    faults: Sequence[str]


def answer(config: SoftwareConfig, details: Mapping[str, Any]) -> Answer:
    """Read a server's answer to the run of a config."""
    declared = [item["name"] for item in config.outputs]
    values = {name: details[name] for name in declared if name in details}
    return Answer(values | {name: details.get(name) for name in OUTPUTS}, list(_faults(config, details)))


def _faults(config: SoftwareConfig, details: Mapping[str, Any]) -> Iterator[str]:
    code = details.get(STATUS_CODE)
    if code and str(code) != "0":
        yield f"{STATUS_CODE} : Deployment exited with non-zero status code: {code}"
    for item in config.outputs:
        name = item["name"]
        if item.get("error_output") and details.get(name) is not None:
            yield f"{name} : {details[name]}"
