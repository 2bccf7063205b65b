# SPDX-License-Identifier: Apache-2.0
"""What a group tells of its members, once for a template's outputs and once for those who look.

``Of`` is called with a member's name, the name of one of its attributes, or
None for what refers to the member, and the path behind the attribute.  What it
returns is a call of a template's function, or the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from heatconv.resources.attributes import select_from_attribute

Path = tuple[str | int, ...]
Of = Callable[[str, str | None, Path], Any]

MEMBER = "resource."  #: how an attribute begins that is one of a single member


def output_name(attribute: str, path: Path) -> str:
    """Return the name of the output that has an attribute's value."""
    return ", ".join(map(str, (attribute, *path)))


def calls(name: str, attribute: str | None, path: Path) -> Any:
    """Return the call by which a template gets at something of a member."""
    if attribute is None:
        return {"get_resource": name}
    return {"get_attr": [name, attribute, *path]}


def list_of(names: Sequence[str], path: Path, of: Of) -> list[Any] | None:
    """Return an attribute of each member, in their order; None if the path does not say which."""
    return [of(name, str(path[0]), path[1:]) for name in names] if path else None


def map_of(names: Sequence[str], path: Path, of: Of) -> dict[str, Any] | None:
    """Return an attribute of each member by name; None if the path does not say which."""
    return {name: of(name, str(path[0]), path[1:]) for name in names} if path else None


def one_of(name: str | None, attribute: str, path: Path, of: Of) -> Any:
    """Return what ``resource.WHICH.ATTRIBUTE`` asks for of the member of a name; None if there is none."""
    if name is None:
        return None
    _which, _, inner = attribute.removeprefix(MEMBER).partition(".")
    rest: Path = (inner, *path) if inner else path
    return of(name, str(rest[0]), rest[1:]) if rest else of(name, None, ())


def usual(names: Sequence[str], attribute: str, path: Path, of: Of) -> Any:
    """Return what most groups tell; an attribute that is none of theirs is one of each member."""
    if attribute.startswith(MEMBER):
        name = attribute.removeprefix(MEMBER).partition(".")[0]
        return one_of(name if name in names else None, attribute, path, of)
    match attribute:
        case "refs":
            return select_from_attribute([of(name, None, ()) for name in names], path)
        case "refs_map":
            return select_from_attribute({name: of(name, None, ()) for name in names}, path)
        case "attributes":
            return map_of(names, path, of)
        case _:
            return list_of(names, (attribute, *path), of)
