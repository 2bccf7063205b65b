# SPDX-License-Identifier: Apache-2.0
"""A picture of a dependency graph of any size: what is alike is one mark, and few marks have places.

What is broken, moving or drifted is drawn alone as long as there is room, as is what somebody looks for.
The rest is rolled up where there is too much of it: by type, kind and layer, or by kind and layer if that is
too much still; neighbouring layers are one where there are many.  ``layout`` places the marks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from heatconv.graph.layout import arrange, depths

FEWEST, MOST = 250, 2000  #: marks that a picture can be asked to have at most
EDGES = 4000  #: that are drawn at most; those of what is broken or moving first

_BANDS = 12  #: columns of a picture in which resources are rolled up: more are not seen at a glance
_LANE = 0.35  #: what an edge that passes a layer takes of the room of a mark


class Kind(StrEnum):
    """How a resource is, for who looks at hundreds; in the order of who needs to be looked at first."""

    BROKEN = "broken"
    MOVING = "moving"
    DRIFTED = "drifted"  #: not in the real world what it was made
    GOING = "going"  #: not wanted any more, and not cleared away yet
    WAITING = "waiting"  #: nothing was done to it yet
    DONE = "done"


_RANK = {kind: place for place, kind in enumerate(Kind)}
_ALONE = (Kind.BROKEN, Kind.MOVING, Kind.DRIFTED)


@dataclass(frozen=True, kw_only=True)
class Node:
    """A resource of a stack."""

    name: str
    type: str
    kind: Kind
    requires: Collection[str]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One thing that is drawn: a node, or several that are alike; ``column`` and ``row`` say where."""

    key: str  #: tells it from the others, and is the same in the next picture if there is one like it
    nodes: Sequence[Node]
    column: int
    row: float


@dataclass(frozen=True, kw_only=True)
class Edge:
    """That a mark requires another, by their numbers; ``lanes`` are the rows in the columns between them."""

    required: int
    by: int
    lanes: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is drawn of a graph."""

    marks: Sequence[Mark]
    edges: Sequence[Edge]
    left_out: int  #: edges that are not drawn


def paint(nodes: Sequence[Node], *, most: int = FEWEST, wanted: Collection[str] = ()) -> Picture:
    """Return a picture with ``most`` marks at most; ``wanted`` are names of nodes to be drawn alone."""
    groups = _rolled_up(nodes, most, wanted)
    pairs = list(_pairs(groups))
    pairs.sort(key=lambda pair: min(_urgency(groups[key]) for key in pair))
    requires: dict[str, list[str]] = {key: [] for key in groups}
    for required, by in pairs[:EDGES]:
        requires[by].append(required)
    layout = arrange(requires)
    places = dict(_places(layout.layers, groups))
    number = {key: place for place, key in enumerate(groups)}
    return Picture(
        marks=[
            Mark(key=key, nodes=alike, column=places[key][0], row=places[key][1])
            for key, alike in groups.items()
        ],
        edges=[
            Edge(required=number[required], by=number[by], lanes=[places[key][1] for key in path[1:-1]])
            for (required, by), path in layout.paths.items()
        ],
        left_out=len(pairs[EDGES:]),
    )


def members(nodes: Sequence[Node], mark: str, *, most: int) -> Sequence[Node]:
    """Return the nodes of a mark of a picture of so many marks; none if there is no such mark."""
    return _rolled_up(nodes, most, ()).get(mark, ())


def _rolled_up(nodes: Sequence[Node], most: int, wanted: Collection[str]) -> dict[str, list[Node]]:
    """Return the nodes of each mark, by its key."""
    if len(nodes) <= most:
        return {_key(node): [node] for node in nodes}
    names = {node.name for node in nodes}
    layer = depths({node.name: [name for name in node.requires if name in names] for node in nodes})
    width = -(-(max(layer.values()) + 1) // _BANDS)
    urgent = sorted((node for node in nodes if node.kind in _ALONE), key=lambda node: _RANK[node.kind])
    alone = {*(node.name for node in urgent[: most // 2]), *wanted}

    def groups(alike: Callable[[Node], tuple[object, ...]]) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in nodes:
            key = _key(node) if node.name in alone else "/".join(map(str, alike(node)))
            found.setdefault(key, []).append(node)
        return found

    by_type = groups(lambda node: (layer[node.name] // width, node.kind, node.type))
    if len(by_type) <= most:
        return by_type
    return groups(lambda node: (layer[node.name] // width, node.kind))


def _key(node: Node) -> str:
    """Return the key of the mark of a node that is drawn alone."""
    return f"={node.name}"


def _pairs(groups: Mapping[str, Sequence[Node]]) -> Iterator[tuple[str, str]]:
    """Yield which mark is required by which, each pair once, and none that would close a circle.

    What is rolled up by bands of layers may require each other both ways; layers tell which way counts.
    """
    of = {node.name: key for key, alike in groups.items() for node in alike}
    requires = {
        node.name: [name for name in node.requires if name in of]
        for alike in groups.values()
        for node in alike
    }
    layer = depths(requires)
    lowest = {key: min(layer[node.name] for node in alike) for key, alike in groups.items()}
    seen: set[tuple[str, str]] = set()
    for name, required_names in requires.items():
        for required in required_names:
            pair = of[required], of[name]
            if pair not in seen and (lowest[pair[0]], pair[0]) < (lowest[pair[1]], pair[1]):
                seen.add(pair)
                yield pair


def _places(
    layers: Sequence[Sequence[str]], groups: Mapping[str, object]
) -> Iterator[tuple[str, tuple[int, float]]]:
    """Yield the column and the row of each mark and waypoint; the columns are centred on row 0."""
    for column, keys in enumerate(layers):
        heights = [1.0 if key in groups else _LANE for key in keys]
        row = -sum(heights) / 2
        for key, height in zip(keys, heights, strict=True):
            yield key, (column, round(row + height / 2, 2))
            row += height


def _urgency(nodes: Sequence[Node]) -> int:
    return min(_RANK[node.kind] for node in nodes)
