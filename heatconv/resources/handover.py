# SPDX-License-Identifier: Apache-2.0
"""What a resource hands over to its replacement, as the two stand side by side for a while.

An address, or a name, of which there can be but one at a time, has to be let go of before
the replacement is made, and is taken back if the replacement is not wanted any more.
"""

from __future__ import annotations

from typing import Any, Self

from heatconv.resources.facts import StackFacts
from heatconv.resources.updating import Updating


class Handover(Updating):
    """A resource that may have what its replacement cannot be made without."""

    replaced_by: Handover | None = None  #: the replacement, while a resource takes back what that got

    def prepare_for_replace(self) -> None:
        """Hand over what a replacement needs, and note with ``data_set`` what it takes to take that back.

        Called before a replacement is made, once something was made; again if
        it raised ``PollDelay``, or a conflict, or an error that may pass.
        """

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Take from ``replaced_by`` what ``prepare_for_replace`` has handed over.

        Called before anything else is done to a resource that goes on in place of its
        replacement; again if it was interrupted, or raised as above.  It finds that
        done, or not yet begun, of which a part is done.  The replacement may be half
        made, broken or never begun; nobody works on it.
        """

    @classmethod
    def load(
        cls, _context: Any, replaced_by: Self, *_of_the_stack: Any
    ) -> tuple[Self, StackFacts, StackFacts]:
        """Return what ``replaced_by`` stands for, as Heat's plugins ask for it: there it is an id."""
        return replaced_by, replaced_by.stack, replaced_by.stack
