# SPDX-License-Identifier: Apache-2.0
"""Dependency graphs as SVG: one self-contained file, dark on light.

Arrows go from what comes first to what needs it, left to right.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

from heatconv.cli.graph_text import Look, LookOf, incarnation, look_of_resource, requirements
from heatconv.graph import layout as layouts

_CHARACTER = 8.0  #: width of one, on average, at 13 pixels
_SHORTEST, _LONGEST = 14, 34  #: characters of a line of text in a box
_HEIGHT, _ROW, _GAP = 52, 70, 70
_WAYPOINT_ROW = 24
_MARGIN, _TITLE = 24, 64

Point = tuple[float, float]

_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" \
viewBox="0 0 {width:.0f} {height:.0f}" font-family="system-ui, sans-serif" font-size="13">
<title>{title}</title>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">\
<path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="{margin}" y="34" font-size="18" font-weight="600" fill="#111">{title}</text>
"""


def render(graph: dict[str, Any], title: str, look_of: LookOf = look_of_resource) -> str:
    """Return the drawing of a graph."""
    going = [{**node, "name": incarnation(node)} for node in graph.get("clearing", [])]
    graph = {**graph, "nodes": [*graph["nodes"], *going]}
    nodes = {node["name"]: node for node in graph["nodes"]}
    layout = layouts.arrange(requirements(graph))
    width = _box_width(nodes.values())
    centres, drawing = _place(layout.layers, nodes, width)
    parts = [_HEAD.format(width=drawing[0], height=drawing[1], title=escape(title), margin=_MARGIN)]
    looks = {name: look_of(node) for name, node in nodes.items()}
    parts += _legend(list(looks.values()), drawing[0])
    parts += [_edge([centres[key] for key in path], width) for path in layout.paths.values()]
    parts += [_box(node, looks[name], centres[name], width) for name, node in nodes.items()]
    return "".join([*parts, "</svg>\n"])


def _box_width(nodes: Any) -> float:
    longest = max((len(text) for node in nodes for text in (node["name"], node["type"])), default=0)
    return min(max(longest, _SHORTEST), _LONGEST) * _CHARACTER + 24


def _place(layers: Any, nodes: dict[str, Any], width: float) -> tuple[dict[str, Point], Point]:
    """Return the centre of each node and waypoint, and the size of the drawing."""
    heights = [sum(_ROW if key in nodes else _WAYPOINT_ROW for key in layer) for layer in layers]
    tallest = max(heights, default=0)
    centres = {}
    for column, (layer, height) in enumerate(zip(layers, heights, strict=True)):
        y = _TITLE + (tallest - height) / 2
        for key in layer:
            row = _ROW if key in nodes else _WAYPOINT_ROW
            centres[key] = (_MARGIN + width / 2 + column * (width + _GAP), y + row / 2)
            y += row
    across = len(layers) * (width + _GAP) - _GAP + 2 * _MARGIN
    return centres, (max(across, 480), _TITLE + tallest + _MARGIN)


def _edge(points: list[Point], width: float) -> str:
    """Return a curve from the right of the first box, through the waypoints, to the left of the last."""
    half = width / 2
    (x, y), last = points[0], points[-1]
    stops = [(x + half, y)]
    for x, y in points[1:-1]:
        stops += [(x - half, y), (x + half, y)]
    stops.append((last[0] - half, last[1]))
    steps = [f"M{stops[0][0]:.1f} {stops[0][1]:.1f}"]
    for (x1, y1), (x2, y2) in pairwise(stops):
        middle = (x1 + x2) / 2
        steps.append(f"C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}")
    line = "".join(steps)
    return f'<path d="{line}" fill="none" stroke="#777" stroke-width="1.3" marker-end="url(#arrow)"/>\n'


def _box(node: dict[str, Any], look: Look, centre: Point, width: float) -> str:
    """Return a node's box: name, type and state; all of it again as a tooltip."""
    x, y = centre[0] - width / 2, centre[1] - _HEIGHT / 2
    tooltip = "\n".join(
        filter(None, (node["name"], node["type"], look.state, node["physical_id"], node["reason"]))
    )
    middle = centre[0]
    return (
        f"<g><title>{escape(tooltip)}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_HEIGHT}" rx="6" '
        f'fill="{look.fill}" stroke="{look.stroke}" stroke-width="1.5"/>'
        f'<text x="{middle:.1f}" y="{y + 18:.1f}" text-anchor="middle" font-weight="600" fill="#111">'
        f"{_fitted(node['name'])}</text>"
        f'<text x="{middle:.1f}" y="{y + 32:.1f}" text-anchor="middle" font-size="11" fill="#333">'
        f"{_fitted(node['type'])}</text>"
        f'<text x="{middle:.1f}" y="{y + 45:.1f}" text-anchor="middle" font-size="10" fill="{look.stroke}">'
        f"{escape(look.state)}</text></g>\n"
    )


def _legend(looks: list[Look], width: float) -> list[str]:
    """Return how many there are of each kind, at the top right."""
    parts, x = [], width - _MARGIN
    for kind, stroke in sorted({(look.kind, look.stroke) for look in looks}, reverse=True):
        text = f"{sum(look.count for look in looks if look.kind == kind):,} {escape(kind)}"
        x -= len(text) * _CHARACTER
        parts.append(f'<text x="{x:.0f}" y="52" fill="{stroke}">{text}</text>\n')
        x -= 14
    return parts


def _fitted(text: str) -> str:
    return escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
