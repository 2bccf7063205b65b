# SPDX-License-Identifier: Apache-2.0
"""What stacks were frozen to last, so that of a template that differs in little only that is evaluated."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from heatconv import template
from heatconv.resources.resource import Resource

Classes = Mapping[str, type[Resource]]  #: of a template's resources, by name


@dataclass(frozen=True)
class Frozen:
    """What came of a template that had no mistakes, and the types of its resources."""

    template: template.FrozenTemplate
    classes: Classes


class Memory:
    """What each stack was frozen to last: of the next version only what differs is evaluated.

    It changes what freezing costs, not what comes of it.  Stacks that are not
    updated any more give way to others.

    Concurrency: safe to share between threads.
    """

    MOST = 20_000  #: definitions; each takes some kilobytes
    LEAST = 100  #: definitions that are worth it

    def __init__(self) -> None:
        self._stacks: OrderedDict[str, Frozen] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, stack_id: str) -> Frozen | None:
        """Return what a stack was frozen to, if it is known."""
        return self._stacks.get(stack_id)

    def keep(self, stack_id: str, frozen: Frozen) -> None:
        """Remember what a stack was frozen to, in place of the one that was least lately."""
        with self._lock:
            before = self._stacks.pop(stack_id, None)
            self._size -= len(before.classes) if before else 0
            if self.LEAST <= len(frozen.classes) <= self.MOST:
                self._stacks[stack_id] = frozen
                self._size += len(frozen.classes)
            while self._size > self.MOST:
                _, dropped = self._stacks.popitem(last=False)
                self._size -= len(dropped.classes)
