# SPDX-License-Identifier: Apache-2.0
"""What a call says of the request that it is about: the same request may be asked several times."""

from __future__ import annotations

import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

#: Beside the first, which earlier releases take as it is: how long somebody waits, and when the call came.
_KEY, _LEFT, _ARRIVED = "asked", "waited_for", "arrived"


@dataclass(frozen=True)
class Asked:
    """What a call is known by, in its context."""

    id: str  #: of the request: the same each time that it is asked
    at: float  #: when it was asked, in seconds since the epoch by the caller's clock
    number: int  #: how many times it has been asked, this one included
    left: float | None = None  #: the seconds from then on in which the caller waits; None: it did not say so

    @classmethod
    def among(cls, context: Mapping[str, Any]) -> Asked | None:
        """Return what the context of a call has of it."""
        said = context.get(_KEY)
        if not said:
            return None
        # Whatever a later release adds is left alone.
        return cls(said["id"], said["at"], said["number"], context.get(_LEFT))

    def added_to(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """Return the context of a call that is known by this."""
        known = {"id": self.id, "at": self.at, "number": self.number}
        return {**context, _KEY: known, _LEFT: self.left}

    def until(self, context: Mapping[str, Any]) -> float | None:
        """Return until when somebody waits for the answer, by ``time.monotonic``; None if that is unknown.

        The time that the message took is not counted, as no two clocks are compared: a message that nobody
        takes for as long as the caller waits is dropped by the bus.
        """
        arrived = context.get(_ARRIVED)
        return None if arrived is None or self.left is None else arrived + self.left


def note_arrival(context: MutableMapping[str, Any]) -> None:
    """Note in the context of a call that it has come to this process now."""
    context[_ARRIVED] = time.monotonic()
