# SPDX-License-Identifier: Apache-2.0
"""The stacks that are measured: their shapes, and how each is changed and scaled.

A resource that nobody depends on is the one that changes: what an update costs
is to be what that one costs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

VERSION = "2021-04-16"
DEPTH, PARENTS = 10, 3  #: of layers
LEAVES = 10  #: members of each of the innermost stacks of a tree


@dataclass(frozen=True)
class Member:
    """What stacks are made of: resources that do nothing, or that wait so many seconds."""

    kind: str = "none"
    wait_secs: float = 0

    def resource(self, value: Any = "x", needs: Sequence[str] = ()) -> Json:
        """Return the snippet of one, with a value of its own."""
        properties: Json = {"value": value}
        if self.wait_secs:
            properties["wait_secs"] = self.wait_secs
        type_name = "OS::Heat::None" if self.kind == "none" else "OS::Heat::TestResource"
        snippet: Json = {"type": type_name, "properties": properties}
        return snippet | ({"depends_on": list(needs)} if needs else {})


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is posted, and what it comes to."""

    resources: Json
    count: int  #: resources, those of nested stacks included
    changed: int = 1  #: resources that differ when it is made with another value
    files: Mapping[str, str] | None = None

    @property
    def body(self) -> Json:
        """What a client sends."""
        return {"template": _hot(self.resources), "files": dict(self.files or {})}


def _hot(resources: Json, parameters: Json | None = None) -> Json:
    template: Json = {"heat_template_version": VERSION, "resources": resources}
    return template | ({"parameters": parameters} if parameters else {})


def _graph(needs: Mapping[str, Sequence[str]], member: Member, value: str) -> Wish:
    """Return a stack of members; the last one has the value."""
    *_, last = needs
    resources = {
        name: member.resource(value if name == last else "x", parents) for name, parents in needs.items()
    }
    return Wish(resources=resources, count=len(resources))


def _names(size: int) -> list[str]:
    return [f"r{number}" for number in range(size)]


def _wide(size: int, member: Member, value: str) -> Wish:
    return _graph(dict.fromkeys(_names(size), ()), member, value)


def _chain(size: int, member: Member, value: str) -> Wish:
    names = _names(size)
    return _graph({name: names[max(at - 1, 0) : at] for at, name in enumerate(names)}, member, value)


def _layers(size: int, member: Member, value: str) -> Wish:
    """Put each resource on some of the layer below, its neighbours there."""
    width = max(size // DEPTH, 1)
    names = _names(width * DEPTH)
    needs: dict[str, Sequence[str]] = {}
    for number, name in enumerate(names):
        layer, place = divmod(number, width)
        below = names[(layer - 1) * width : layer * width] if layer else []
        needs[name] = sorted({below[(place + offset) % width] for offset in range(PARENTS)} if below else ())
    return _graph(needs, member, value)


def _fan_in(size: int, member: Member, value: str) -> Wish:
    names = _names(size - 1)
    return _graph({**dict.fromkeys(names, ()), "sink": names}, member, value)


def _diamond(size: int, member: Member, value: str) -> Wish:
    middle = _names(size - 2)
    return _graph({"top": (), **{name: ["top"] for name in middle}, "bottom": middle}, member, value)


def _tree(size: int, member: Member, value: str) -> Wish:
    """Nest b stacks in the outermost, b in each of those, and ten members in each of those again."""
    branches = max(round(math.sqrt(size / (LEAVES + 1))), 1)

    def level(type_name: str | None, count: int, inner: Any) -> Json:
        """Return resources, of which the first has the value that is handed down."""
        names = _names(count)
        if type_name is None:
            return {name: member.resource(inner if name == "r0" else "x") for name in names}
        return {
            name: {"type": type_name, "properties": {"value": inner if name == "r0" else "x"}}
            for name in names
        }

    handed_down, parameters = {"get_param": "value"}, {"value": {"type": "string"}}
    files = {
        "branch.yaml": json.dumps(_hot(level("twig.yaml", branches, handed_down), parameters)),
        "twig.yaml": json.dumps(_hot(level(None, LEAVES, handed_down), parameters)),
    }
    return Wish(
        resources=level("branch.yaml", branches, value),
        count=branches + branches**2 * (1 + LEAVES),
        changed=3,  # a member and the two resources that stand for the stacks around it
        files=files,
    )


def _group(size: int, member: Member, value: str) -> Wish:
    """Let a group count its members; a value of the group's own changes none of them."""
    definition = member.resource("%index%")
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": size, "resource_def": definition},
        "metadata": {"value": value},
    }
    return Wish(resources={"group": group}, count=size + 1)


#: By name: each is made of a size, of a member, and of the value of the one that changes.
SHAPES: Mapping[str, Callable[[int, Member, str], Wish]] = {
    "wide": _wide,
    "chain": _chain,
    "layers": _layers,
    "fan-in": _fan_in,
    "diamond": _diamond,
    "tree": _tree,
    "group": _group,
}

SCALED = ("group",)  #: the shapes that are scaled too


def more(size: int) -> int:
    """Return a size scaled up by a tenth."""
    return size + max(size // 10, 1)
