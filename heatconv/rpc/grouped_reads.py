# SPDX-License-Identifier: Apache-2.0
"""What many callers ask for most of all, a stack, is asked for by one call for those who come together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from heatconv.grouping import Grouping
from heatconv.rpc.context import RequestContext
from heatconv.rpc.endpoint import Caller
from heatconv.rpc.engine_client import EngineClient, Json

ABREAST = 1  #: calls under way at a time while others wait
PATIENCE = 0.2  #: seconds that somebody waits for others' calls before making one
_OURS = RequestContext(project_id="")  #: who asks for several callers is not one of them


class _Wanted(NamedTuple):
    context: RequestContext
    stack: str
    resolve_outputs: bool


class GroupedReads(EngineClient):
    """The engine's endpoints, for who asks on behalf of many callers.

    Whoever comes while few are there asks for itself; a caller that is slow to be answered, or whose call
    goes wrong, holds up others for a moment at most.

    Concurrency: any thread may ask.
    """

    def __init__(self, caller: Caller) -> None:
        """Keep how engines are called."""
        super().__init__(caller)
        self._together: Grouping[_Wanted, tuple[Json | None]] = Grouping(
            self._show, lambda _wanted: "", ABREAST, patience=PATIENCE
        )

    def show_stack(self, context: RequestContext, stack: str, *, resolve_outputs: bool = True) -> Json:
        """See the base."""
        (shown,) = self._together(_Wanted(context, stack, resolve_outputs))
        if shown is None:
            shown = super().show_stack(context, stack, resolve_outputs=resolve_outputs)
        return shown

    def _show(self, wanted: Sequence[_Wanted]) -> list[tuple[Json | None]]:
        """Return stacks; None stands for one that is to be asked for alone."""
        if len(wanted) == 1:
            (one,) = wanted
            return [(super().show_stack(one.context, one.stack, resolve_outputs=one.resolve_outputs),)]
        asked = [
            {
                "project_id": each.context.project_id,
                "stack_id": each.stack,
                "resolve_outputs": each.resolve_outputs,
            }
            for each in wanted
        ]
        return [(shown,) for shown in self.show_stacks(_OURS, asked)]
