# SPDX-License-Identifier: Apache-2.0
"""Nested stacks that a worker asks for together: most are alike, and are made by one transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heatconv import errors
from heatconv.db.convergence import nested, traversals
from heatconv.db.convergence.traversal_kinds import NestedGrowth
from heatconv.db.convergence.traversal_stacks import Beginning
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.requests import answer_with
from heatconv.db.plumbing.session import Database
from heatconv.engine import race
from heatconv.engine.applying import of_options
from heatconv.engine.options import new_stack, settings_of
from heatconv.engine.posted_sources import PostedSources
from heatconv.engine.prepare import Preparer
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.model.nodes import Node
from heatconv.model.records import Held
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

FEW = 4  #: nodes that are not shared among workers when a nested stack begins with no more

Json = Mapping[str, Any]
New = tuple[Beginning, NestedGrowth]


class NestedCreation:
    """Creates nested stacks, all that nothing is in the way of."""

    def __init__(
        self,
        *,
        database: Database,
        preparer: Preparer,
        sources: PostedSources,
        quotas: StackQuotas,
        ring: Callable[[Started], None],
    ) -> None:
        """Keep what is handed in; ``ring`` is called after commit, and may be lost."""
        self._database = database
        self._preparer = preparer
        self._sources = sources
        self._quotas = quotas
        self._ring = ring

    def create_nested_stacks(
        self, context: RequestContext, wanted: Sequence[Json], parts: Sequence[Any]
    ) -> list[dict[str, Any] | None]:
        """Start to create stacks for their owners; None: this one is to be asked for alone.

        Whatever is not as usual is left to ``Requests.create_stack``, which says what is wrong: mistakes,
        quotas, an owner that has a stack already or that is held no more.  Of a stack that begins with few
        nodes these are answered, for whoever asks to check; others are rung for here.
        """
        owners = [each["options"]["owner"]["id"] for each in wanted]
        places = nested.places(self._database, owners)
        existing = nested.children_of(self._database, owners)
        tried = [
            self._new(context, each, parts, places[owner])
            for each, owner in zip(wanted, owners, strict=True)
            if owner in places and (owner not in existing or existing[owner].deleted)
        ]
        new = [each for each in tried if each is not None]
        owner_of = {each.stack.id: growth.owner.id for each, growth in new}

        def answer(begun: Sequence[Started]) -> list[dict[str, Any] | None]:
            by_owner = {owner_of[started.stack_id]: _answer(started) for started in begun}
            return [by_owner.get(owner) for owner in owners]

        answer_with(answer)
        try:
            begun = traversals.create_nested(self._database, new)
        except errors.UserError as error:
            LOG.info("%d nested stacks are to be asked for one by one: %s", len(new), error)
            return [None] * len(wanted)
        for started in begun:
            race.correct_statistics(self._database, started)
            LOG.info("stack %s: CREATE of a nested one begins (%s)", started.stack_id, context.request_id)
            if not _few(started):
                self._ring(started)
        return answer(begun)

    def _new(
        self, context: RequestContext, wanted: Json, parts: Sequence[Any], place: tuple[str, int]
    ) -> New | None:
        """Return how a stack begins; None if something is wrong with it."""
        options = wanted["options"]
        owner = Held(**options["owner"])
        try:
            stack = self._quotas.placed(new_stack(context, wanted["name"], options), place)
            given = {key: parts[number] for key, number in wanted["source"].items()}
            source = self._sources.create_source(context, given, options)
            new, quota = self._preparer.beginning(
                stack, source, settings_of(options, source), [], applying=of_options(options)
            )
        except errors.HeatconvError:
            return None
        return new, NestedGrowth(quota=quota, owner=owner)


def _few(started: Started) -> tuple[Node, ...]:
    """Return the nodes that a stack begins with, if they are few and there is nobody else to ring for."""
    return started.leaves if len(started.leaves) <= FEW and not started.left else ()


def _answer(started: Started) -> dict[str, Any]:
    return {
        "stack_id": started.stack_id,
        "traversal_id": started.traversal_id,
        "leaves": [node.resource_id for node in _few(started)],
    }
