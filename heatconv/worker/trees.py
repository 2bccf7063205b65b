# SPDX-License-Identifier: Apache-2.0
"""Which tree of stacks a nested stack is in, as far as a worker has met it."""

from __future__ import annotations

from collections import OrderedDict

MOST_MET = 10_000  #: nested stacks that a worker knows the root of


class Trees:
    """The roots of the nested stacks that were met lately."""

    def __init__(self) -> None:
        self._root_of: OrderedDict[str, str] = OrderedDict()

    def root_of(self, stack_id: str) -> str:
        """Return the root of the tree that a stack is in, if it was met lately, else the stack."""
        return self._root_of.get(stack_id, stack_id)

    def meet(self, stack_id: str, root_id: str) -> None:
        """Take in what tree a stack is in."""
        if root_id != stack_id and stack_id not in self._root_of:
            self._root_of[stack_id] = root_id
            if len(self._root_of) > MOST_MET:
                self._root_of.popitem(last=False)
