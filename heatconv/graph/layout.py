# SPDX-License-Identifier: Apache-2.0
"""A layered layout: where each node of a dependency graph is drawn.

A node's layer is the length of the longest path to it, so that every edge goes
from left to right.  An edge that passes layers gets a waypoint in each of them,
one for all edges from the same node.  Nodes and waypoints of a layer are then
ordered, a few sweeps to and fro, by the mean position of their neighbours,
which untangles most crossings (Sugiyama, Tagawa, Toda 1981).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 8


@dataclass(frozen=True)
class Layout:
    """Columns of keys; a key that is no node's name is a waypoint of an edge."""

    layers: Sequence[Sequence[str]]
    #: (required, name) -> the keys that the edge passes, both ends included.
    paths: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)


def arrange(requires: Mapping[str, Sequence[str]]) -> Layout:
    """Return the layout of an acyclic graph, given what each node requires."""
    depth = depths(requires)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in requires:
        layers[depth[name]].append(name)
    waypoints: list[dict[str, None]] = [{} for _ in layers]  # each an ordered set
    paths = {}
    for name, required_names in requires.items():
        for required in required_names:
            between = {at: f"{required}\0{at}" for at in range(depth[required] + 1, depth[name])}
            paths[required, name] = [required, *between.values(), name]
            for at, waypoint in between.items():
                waypoints[at][waypoint] = None
    for layer, passing in zip(layers, waypoints, strict=True):
        layer.extend(passing)
    _untangle(layers, paths.values())
    return Layout(layers, paths)


def depths(requires: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the length of the longest path to each node."""
    needed_by: dict[str, list[str]] = {name: [] for name in requires}
    missing = {name: len(set(required)) for name, required in requires.items()}
    for name, required_names in requires.items():
        for required in set(required_names):
            needed_by[required].append(name)
    depth = dict.fromkeys(requires, 0)
    ready = [name for name, count in missing.items() if not count]
    while ready:
        name = ready.pop()
        for dependent in needed_by[name]:
            depth[dependent] = max(depth[dependent], depth[name] + 1)
            missing[dependent] -= 1
            if not missing[dependent]:
                ready.append(dependent)
    return depth


def _untangle(layers: list[list[str]], paths: Iterable[Sequence[str]]) -> None:
    """Order each layer by the mean position of its neighbours in the one before, to and fro."""
    left: dict[str, list[str]] = {key: [] for layer in layers for key in layer}
    right: dict[str, list[str]] = {key: [] for layer in layers for key in layer}
    for path in paths:
        for one, other in pairwise(path):
            left[other].append(one)
            right[one].append(other)
    for sweep in range(_SWEEPS):
        forth = sweep % 2 == 0
        order = layers if forth else layers[::-1]
        neighbours = left if forth else right
        for fixed, moved in pairwise(order):
            _sort_by_neighbours(moved, neighbours, fixed)


def _sort_by_neighbours(layer: list[str], neighbours: Mapping[str, list[str]], fixed: list[str]) -> None:
    # Positions are relative: a layer of two lies along a layer of twenty, not at its top.
    place = {key: (at + 0.5) / len(fixed) for at, key in enumerate(fixed)}
    own = {key: (at + 0.5) / len(layer) for at, key in enumerate(layer)}
    mean = {
        key: sum(place[one] for one in neighbours[key]) / len(neighbours[key])
        if neighbours[key]
        else own[key]
        for key in layer
    }
    layer.sort(key=mean.__getitem__)
