# SPDX-License-Identifier: Apache-2.0
"""A plan as a graph: what is done to each resource, and by which ways one change leads to another.

What is alike, and so is one entry of the plan's tree, is one node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from heatconv.cli.graph_text import GREEN, GREY, RED, YELLOW, Look
from heatconv.cli.plan_facts import place
from heatconv.cli.plan_outline import Entry, Outline, Path

_NODES = 500  #: the most dangerous

_COLOURS = {
    "create": GREEN,
    "adopt": GREEN,
    "update": YELLOW,
    "heal": YELLOW,
    "replace": RED,
    "delete": RED,
}


def graph(outline: Outline) -> dict[str, Any]:
    """Return the nodes and edges of a plan, as ``graph_svg`` and ``graph_text`` draw them."""
    entries = outline.entries()
    placed = sorted(_placed(entries, (), 1), key=lambda each: each[0].rank)[:_NODES]
    names = {id(entry): _name(path, count) for entry, path, count in placed}
    edges: dict[tuple[str, str], None] = {}  # an ordered set
    for entry, path, _ in placed:
        for origin in entry.detail.origins if entry.detail else ():
            name, required = names[id(entry)], names.get(id(outline.find(origin.seen_from(path), entries)))
            if required and required != name:
                edges[name, required] = None
    nodes = [_node(names[id(entry)], entry, count) for entry, _, count in placed]
    return {"nodes": nodes, "edges": list(edges)}


def look_of(node: dict[str, Any]) -> Look:
    """Return how a node of a plan is drawn: by what is done."""
    fill, stroke = _COLOURS.get(node["action"], GREY)
    return Look(node["state"], node["action"], fill, stroke, node["count"])


def _placed(entries: Iterable[Entry], above: Path, of: int) -> Iterator[tuple[Entry, Path, int]]:
    """Yield the entries to which something is done, at any depth: where the first is, and how many in all."""
    for entry in entries:
        path, count = (*above, entry.names[0]), of * entry.count
        if entry.shape:
            yield entry, path, count
        yield from _placed(entry.below, path, count)


def _name(path: Path, count: int) -> str:
    return place(path) + (f" and {count - 1:,} alike" if count > 1 else "")


def _node(name: str, entry: Entry, count: int) -> dict[str, Any]:
    action, certain = (entry.shape.action, entry.shape.certain) if entry.shape else ("", True)
    return {
        "name": name,
        "count": count,
        "type": entry.shape.type if entry.shape else "",
        "action": action,
        "state": action if certain else f"{action} (possible)",
        "physical_id": entry.physical_id,
        "reason": "\n".join(fact.text for fact in entry.detail.facts) if entry.detail else "",
    }
