# SPDX-License-Identifier: Apache-2.0
"""What a worker may do with a row because the plan that is applied says so, and nothing beyond."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Deed(StrEnum):
    """What a worker does to a resource that is wanted, and that a plan has to say before."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"


#: Stands for every member of a nested stack whose name is made up when it is made.
ANY_NAME = "*"


@dataclass(frozen=True)
class Foreseen:
    """The deeds that a plan says of a resource, and what it says of the resources in the stack it owns.

    ``inside`` is by name: nothing may be done to those it does not name.  None: the plan could not look
    inside, and says that anything may be done there.
    """

    may: Collection[Deed] = ()
    inside: Mapping[str, Foreseen] | None = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        inside = None if self.inside is None else {name: each.to_json() for name, each in self.inside.items()}
        return {"may": sorted(self.may), **({} if inside == {} else {"inside": inside})}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Foreseen:
        """Return what ``to_json`` made ``data`` of."""
        inside = data.get("inside", {})
        return cls(
            may=frozenset(map(Deed, data["may"])),
            inside=None if inside is None else by_name(inside),
        )


NOTHING = Foreseen()


def by_name(data: Mapping[str, Any]) -> dict[str, Foreseen]:
    """Return what is foreseen of some resources, of plain JSON data."""
    return {name: Foreseen.from_json(each) for name, each in data.items()}


def of_name(foreseen: Mapping[str, Foreseen], name: str) -> Foreseen:
    """Return what is foreseen of the resource of a name."""
    return foreseen.get(name) or foreseen.get(ANY_NAME) or NOTHING
