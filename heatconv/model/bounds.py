# SPDX-License-Identifier: Apache-2.0
"""How much there may be in a tree of stacks, told from numbers alone, before any of it is built."""

from __future__ import annotations

from dataclasses import dataclass

from heatconv import errors


@dataclass
class Bounds:
    """How large a group may be; whoever composes a process sets it before the first one is made."""

    members: int = 100_000  #: -1 is any number
    text: int = 524_288  #: bytes of the template that describes all members


GROUPS = Bounds()


def check_resources(resources: int, limit: int) -> None:
    """Refuse so many resources in a tree of stacks if that is more than there may be.

    Raises:
        RequestLimitExceeded: it is too many.
    """
    if resources > limit:
        raise errors.RequestLimitExceeded(
            f"Maximum resources per stack exceeded: there would be {readable(resources)},"
            f" and {limit} are allowed."
        )


def readable(number: int) -> str:
    """Return a number as a sentence can have it; of one with thousands of digits, that it is large."""
    return str(number) if number < 10**100 else "more than 10 to the power of 100"


def check_members(size: int) -> None:
    """Refuse so many members of a group.

    Raises:
        RequestLimitExceeded: it is too many.
    """
    if GROUPS.members >= 0:
        check_resources(size, GROUPS.members)


def check_text(size: int) -> None:
    """Refuse so many bytes of a template that describes the members of a group.

    Raises:
        RequestLimitExceeded: it is too much.
    """
    if size > GROUPS.text:
        raise errors.RequestLimitExceeded(
            f"The template of the members would have {readable(size)} bytes or more;"
            f" at most {GROUPS.text} are allowed."
        )
