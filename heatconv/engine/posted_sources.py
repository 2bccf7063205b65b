# SPDX-License-Identifier: Apache-2.0
"""From what users post to sources: parsed, laid over what is there already, and with sinks that can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from heatconv.engine import freezing, patching
from heatconv.engine.freezer import Freezer
from heatconv.engine.options import owner_of
from heatconv.engine.source import Source
from heatconv.engine.unmasking import masked_names, unmasked
from heatconv.model.records import Stack
from heatconv.rpc.context import RequestContext
from heatconv.sinks.types import SinkTypes

Json = Mapping[str, Any]


class PostedSources:
    """Makes sources of what users post; evaluates nothing."""

    def __init__(self, freezer: Freezer, sink_types: SinkTypes, *, max_template_size: int) -> None:
        """Keep what is handed in; the limit is bytes of a template."""
        self._freezer = freezer
        self._sink_types = sink_types
        self._max_template_size = max_template_size

    def parse(self, context: RequestContext, source: Json) -> Source:
        """Parse what a user posted to describe a stack."""
        parsed = freezing.parse(source, max_template_size=self._max_template_size)
        return replace(parsed, refused_types=context.refused_types or ())

    def create_source(self, context: RequestContext, source: Json, options: Json) -> Source:
        """Return what a user posted to describe a stack, laid over what is to be adopted if anything is.

        What a nested stack is made of comes from its owner in any case.
        """
        adopt = options.get("adopt")
        if owner_of(options) is not None:
            return self.parse(context, source)
        if adopt is None:
            return self.check_sinks(self.parse(context, source))
        before = self.parse(context, {key: adopt.get(key) for key in ("template", "environment", "files")})
        return self.check_sinks(patching.lay_over(before, source, max_template_size=self._max_template_size))

    def update_source(
        self, context: RequestContext, source: Json, *, existing: bool
    ) -> Callable[[Stack], Source]:
        """Return how to get at what an update wants, given the stack it is for."""
        if not existing:
            parsed = self.parse(context, source)

            def complete(stack: Stack) -> Source:
                # What a nested stack inherits has been checked, whatever the operator may have said since.
                if stack.owner_resource_id:
                    return parsed
                if not masked_names(parsed):  # else what is stored need not be read
                    return self.check_sinks(parsed)
                return self.check_sinks(unmasked(parsed, self._freezer.stored(stack.raw_template_id)))

            return complete

        def build(stack: Stack) -> Source:
            stored = self._freezer.stored(stack.raw_template_id)
            before = replace(stored, refused_types=context.refused_types or ())
            after = patching.lay_over(before, source, max_template_size=self._max_template_size)
            kept = after.environment["event_sinks"] == before.environment.get("event_sinks")
            return after if kept else self.check_sinks(after)

        return build

    def check_sinks(self, source: Source) -> Source:
        """Return a source if its events can be delivered as it says.

        Raises:
            Invalid: they cannot.
        """
        self._sink_types.check(source.environment)
        return source
