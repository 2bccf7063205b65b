# SPDX-License-Identifier: Apache-2.0
"""Dependency graphs as text: a tree for terminals, DOT for graphviz."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.text import Text
from rich.tree import Tree

from heatconv.cli.base import style_of

GREEN, YELLOW, RED = ("#d7f0dc", "#2e7d32"), ("#fdf0c4", "#8a5a00"), ("#f8d3d0", "#c62828")
GREY = ("#ececec", "#777777")

#: Fill colours by status, light enough for black text, and colours of lines.
_COLOURS = {"COMPLETE": GREEN, "IN_PROGRESS": YELLOW, "FAILED": RED}


@dataclass(frozen=True)
class Look:
    """How a node is drawn."""

    state: str  #: its last line
    kind: str  #: what it is counted as
    fill: str
    stroke: str
    count: int = 1  #: of those that it stands for


def look_of_resource(node: dict[str, Any]) -> Look:
    """Return how a resource of a stack is drawn: by its status."""
    fill, stroke = _COLOURS.get(status(node), GREY)
    kind = status(node).lower().replace("_", " ")
    return Look(f"{node['action']}_{node['status']}", kind, fill, stroke)


LookOf = Callable[[dict[str, Any]], Look]


def tree(graph: dict[str, Any], title: str) -> Tree:
    """Return a tree: what nothing depends on at the top, below each what it requires.

    What several resources require is spelt out under the first of them only.
    """
    requires = requirements(graph)
    nodes = {node["name"]: node for node in graph["nodes"]}
    required = {name for names in requires.values() for name in names}
    root = Tree(Text(title, style="bold"))
    going = graph.get("clearing", [])
    spelt_out: set[str] = set()
    pending = [(root, name) for name in reversed(requires) if name not in required]
    while pending:
        parent, name = pending.pop()
        label = _label(nodes[name])
        if name in spelt_out and requires[name]:
            parent.add(label.append("  (see above)", style="dim"))
            continue
        spelt_out.add(name)
        branch = parent.add(label)
        pending += [(branch, below) for below in reversed(requires[name])]
    if going:
        cleared = root.add(Text("being cleared away", style="dim"))
        for node in going:
            cleared.add(_label(node).append(f"  version {node['version']}, {_fate(node)}", style="dim"))
    return root


def dot(graph: dict[str, Any], title: str, look_of: LookOf = look_of_resource) -> str:
    """Return the graph in graphviz's language; arrows go from what comes first to what needs it."""
    lines = [f"digraph {_quoted(title)} {{", "  rankdir=LR;", '  node [shape=box, style="rounded,filled"];']
    for node in graph["nodes"]:
        look = look_of(node)
        label = f"{node['name']}\n{node['type']}\n{look.state}"
        lines.append(f"  {_quoted(node['name'])} [label={_quoted(label)}, fillcolor={_quoted(look.fill)}];")
    lines += [f"  {_quoted(required)} -> {_quoted(name)};" for name, required in graph["edges"]]
    for node in graph.get("clearing", []):
        name = incarnation(node)
        label = f"{name}\n{node['type']}\n{look_of(node).state}"
        lines.append(f'  {_quoted(name)} [label={_quoted(label)}, style="rounded,dashed"];')
        if node["replaced_by"]:
            arrow = f"{_quoted(name)} -> {_quoted(node['name'])}"
            lines.append(f'  {arrow} [label="replaced by", style=dashed, constraint=false];')
    return "\n".join([*lines, "}", ""])


def incarnation(node: dict[str, Any]) -> str:
    """Return what to call what is being cleared away: another may have its name."""
    return f"{node['name']} (version {node['version']})"


def _fate(node: dict[str, Any]) -> str:
    other = node["replaced_by"]
    return f"replaced by version {other['version']}" if other else "not wanted any more"


def requirements(graph: dict[str, Any]) -> dict[str, list[str]]:
    """Return what each resource requires, by name."""
    requires: dict[str, list[str]] = {node["name"]: [] for node in graph["nodes"]}
    for name, required in graph["edges"]:
        if name in requires and required in requires:
            requires[name].append(required)
    return requires


def status(node: dict[str, Any]) -> str:
    """Return how a resource is; one that was never touched is TO_DO."""
    return "TO_DO" if node["action"] == "INIT" else str(node["status"])


def _label(node: dict[str, Any]) -> Text:
    state = f"{node['action']}_{node['status']}"
    label = Text.assemble((node["name"], "bold"), f"  {node['type']}  ", (state, style_of(state)))
    if node["status"] == "FAILED" and node["reason"]:
        label.append(f"  {node['reason']}", style="red")
    return label


def _quoted(text: str) -> str:
    # JSON's escapes are those of DOT as far as names, line ends and quotes go.
    return json.dumps(text, ensure_ascii=False)
