# SPDX-License-Identifier: Apache-2.0
"""The engines, as a worker asks them for nested stacks: for those that come together by one call.

Most of the nested stacks of a tree are alike, and many of them come to a worker at the same time.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heatconv import errors
from heatconv.grouping import Grouping
from heatconv.model.definition import canonical
from heatconv.model.nodes import Direction, Node
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient

LOG = logging.getLogger(__name__)

Ring = Callable[[str, str, Sequence[Node], str], None]  #: as ``Doorbell.ring``


@dataclass(frozen=True, kw_only=True)
class Creation:
    """A nested stack that is to be created, on whose behalf, and in which tree."""

    context: RequestContext
    tree: str
    name: str
    source: Mapping[str, Any]
    options: Mapping[str, Any]

    @property
    def asker(self) -> tuple[str | None, ...]:
        """On whose behalf."""
        return self.context.project_id, self.context.user_id, self.context.user_name


class Engines:
    """Asks engines; ``client`` is how to ask one for anything but the creation of a nested stack.

    Concurrency: any thread may ask.
    """

    def __init__(self, client: EngineClient, ring: Ring) -> None:
        """Keep what is handed in; ``ring`` has the nodes checked that a nested stack begins with."""
        self.client = client
        self._ring = ring
        self._together: Grouping[Creation, tuple[str | None]] = Grouping(
            self._create, lambda wanted: wanted.tree, abreast=1
        )

    def create(self, wanted: Creation) -> str:
        """Start to create a nested stack, or find the one that its owner has, and return its id.

        Raises:
            HeatconvError: whatever asking for it alone raises.
        """
        stack_id = None
        if "adopt" not in wanted.options:
            (stack_id,) = self._together(wanted)
        if stack_id is not None:
            return stack_id
        return self.client.create_stack(
            wanted.context, wanted.name, dict(wanted.source), dict(wanted.options)
        )

    def _create(self, wanted: Sequence[Creation]) -> list[tuple[str | None]]:
        """Start to create nested stacks; None stands for the id of one that is to be asked for alone."""
        by_asker: dict[tuple[str | None, ...], list[Creation]] = defaultdict(list)
        for each in wanted:
            by_asker[each.asker].append(each)
        stack_ids: dict[int, str | None] = {}
        for alike in by_asker.values():
            stack_ids |= zip(map(id, alike), self._call(alike), strict=True)
        return [(stack_ids[id(each)],) for each in wanted]

    def _call(self, wanted: Sequence[Creation]) -> list[str | None]:
        parts = _Parts()
        sent = [
            {"name": each.name, "options": dict(each.options), "source": parts.numbers_in(each.source)}
            for each in wanted
        ]
        try:
            answers = self.client.create_nested_stacks(wanted[0].context, sent, parts.values)
        except errors.TransportError as error:  # or engines of an earlier release, which do not know the call
            LOG.info("%d nested stacks are asked for one by one: %s", len(wanted), error)
            return [None] * len(wanted)
        return [
            None if answer is None else self._begun(each, **answer)
            for each, answer in zip(wanted, answers, strict=True)
        ]

    def _begun(self, wanted: Creation, stack_id: str, traversal_id: str, leaves: Sequence[str]) -> str:
        nodes = [Node(resource_id, Direction.UPDATE) for resource_id in leaves]
        self._ring(stack_id, traversal_id, nodes, wanted.tree)
        return stack_id


class _Parts:
    """The values that sources have, each once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}  # by the text: Python takes 1 and True for the same

    def numbers_in(self, source: Mapping[str, Any]) -> dict[str, int]:
        """Return a source with the number of each value in its place."""
        return {key: self._number_of(value) for key, value in source.items()}

    def _number_of(self, value: Any) -> int:
        text = canonical(value)
        if text not in self._numbers:
            self._numbers[text] = len(self.values)
            self.values.append(value)
        return self._numbers[text]
