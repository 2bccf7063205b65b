# SPDX-License-Identifier: Apache-2.0
"""The evaluation of deferred calls at run time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.errors import ActionFailed
from heatconv.model.deferred import CALL, attribute_reference
from heatconv.model.nodes import NodeData
from heatconv.template.functions.arguments import FunctionError, select
from heatconv.template.limits import bounded_work
from heatconv.template.problems import path_of
from heatconv.template.versions import RUN_TIME_FUNCTIONS


@bounded_work()
def resolve(value: Any, nodes: Mapping[str, NodeData]) -> Any:
    """Return a frozen value with its deferred calls made.

    Args:
        value: part of a frozen definition or output.
        nodes: by name, what the resources it refers to told; of one that is
            absent, attributes are None and its name is its reference id.

    Raises:
        ActionFailed: a function cannot be computed with the values there are.
    """
    return _resolved(value, nodes)


def _resolved(value: Any, nodes: Mapping[str, NodeData]) -> Any:
    if isinstance(value, dict):
        if CALL in value:
            return _make_call(value[CALL], value["args"], nodes)
        return {key: _resolved(item, nodes) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, nodes) for item in value]
    return value


def _make_call(function: str, args: Any, nodes: Mapping[str, NodeData]) -> Any:
    if function == "literal":
        return {key: _resolved(item, nodes) for key, item in args}
    if function == "get_resource":
        data = nodes.get(args)
        return args if data is None or data.reference_id is None else data.reference_id
    if function == "get_attr":
        return _attribute(args, nodes)
    entry = RUN_TIME_FUNCTIONS[function]
    try:
        return entry(_resolved(args, nodes))
    except FunctionError as error:
        raise ActionFailed(reason=f"{path_of([entry.name, *error.path])}: {error.sentence}") from error


def _attribute(args: list[Any], nodes: Mapping[str, NodeData]) -> Any:
    name, *rest = args
    data = nodes.get(name)
    if data is None:
        return None
    reference = attribute_reference(name, rest)
    value = data.attributes.get(reference.key)
    # What the resource was not asked for, because it was not known yet, is selected here.
    remaining = rest[1 + len(reference.path) :]
    return select(value, _resolved(remaining, nodes), None)
