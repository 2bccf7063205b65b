# SPDX-License-Identifier: Apache-2.0
"""The evaluation of deferred calls at run time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.errors import ActionFailed
from heatconv.model.deferred import CALL, FAILED, UNKNOWN, attribute_reference, contains_deferred
from heatconv.model.nodes import NodeData
from heatconv.model.unknown import Unknown, contains_unknown, unknown_like
from heatconv.model.work import bounded_work
from heatconv.template.functions.arguments import FunctionError, select
from heatconv.template.limits import MAX_TOTAL_WEIGHT, TOO_MUCH_PRODUCED, weight_of
from heatconv.template.problems import path_of
from heatconv.template.versions import RUN_TIME_FUNCTIONS


def resolve(value: Any, nodes: Mapping[str, NodeData]) -> Any:
    """Return a frozen value with its deferred calls made.

    What is made of a value that is not known yet is not known yet either.

    Args:
        value: part of a frozen definition or output.
        nodes: by name, what the resources it refers to told; of one that is
            absent, attributes are None and its name is its reference id.

    Raises:
        ActionFailed: a function cannot be computed with the values there are.
    """
    return _resolve(value, nodes) if contains_deferred(value) else value


@bounded_work()
def _resolve(value: Any, nodes: Mapping[str, NodeData]) -> Any:
    return _Resolver(nodes).resolved(value)


class _Resolver:
    """Makes the calls of one value; what they give is weighed together, as while freezing."""

    def __init__(self, nodes: Mapping[str, NodeData]) -> None:
        self._nodes = nodes
        self._left = MAX_TOTAL_WEIGHT
        self._is_unsure = False  # whether a value was met that is not known yet: a worker meets none

    def resolved(self, value: Any) -> Any:
        """Return a value with its calls made."""
        if isinstance(value, dict):
            if CALL in value:
                return self._make_call(value[CALL], value["args"])
            return {key: self.resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolved(item) for item in value]
        return value

    def _make_call(self, function: str, args: Any) -> Any:
        if function == "literal":
            return {key: self.resolved(item) for key, item in args}
        if function == "get_resource":
            data = self._nodes.get(args)
            return args if data is None or data.reference_id is None else self._met(data.reference_id)
        if function == FAILED:
            raise ActionFailed(reason=args)
        if function == UNKNOWN:
            return self._met(Unknown.from_json(args))
        if function == "get_attr":
            return self._weighed(self._attribute(args))
        entry = RUN_TIME_FUNCTIONS[function]
        given = self.resolved(args)
        if self._is_unsure and contains_unknown(given):
            return unknown_like(given)
        try:
            return self._weighed(entry(given))
        except FunctionError as error:
            raise ActionFailed(reason=f"{path_of([entry.name, *error.path])}: {error.sentence}") from error

    def _attribute(self, args: list[Any]) -> Any:
        name, *rest = args
        data = self._nodes.get(name)
        if data is None:
            return None
        reference = attribute_reference(name, rest)
        value = self._met(data.attributes.get(reference.key))
        # What the resource was not asked for, because it was not known yet, is selected here.
        remaining = self.resolved(rest[1 + len(reference.path) :])
        if self._is_unsure and contains_unknown(remaining):
            return unknown_like([value, remaining])
        return select(value, remaining, None)

    def _met(self, value: Any) -> Any:
        self._is_unsure = self._is_unsure or contains_unknown(value)
        return value

    def _weighed(self, value: Any) -> Any:
        self._left -= weight_of(value, self._left)
        if self._left < 0:
            raise ActionFailed(reason=TOO_MUCH_PRODUCED)
        return value
