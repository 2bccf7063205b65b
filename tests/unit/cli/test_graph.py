# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.cli import graph_svg, graph_text
from heatconv.graph.layout import arrange

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def diamond(engine):
    """``d`` requires ``b`` and ``c``, both require ``a``; ``d`` requires ``a`` itself, too."""
    stack_id = engine.add_stack("web")
    for name in "abc":
        engine.add_resource(stack_id, name)
    engine.add_resource(stack_id, "d", status="FAILED", reason='no <image> & "no" luck')
    engine.edges = [["b", "a"], ["c", "a"], ["d", "b"], ["d", "c"], ["d", "a"]]


def test_tree_shows_what_each_resource_requires(run, engine, diamond):
    assert run("stack", "graph", "web").out == (
        "web CREATE_COMPLETE\n"
        '└── d  OS::Heat::TestResource  CREATE_FAILED  no <image> & "no" luck\n'
        "    ├── b  OS::Heat::TestResource  CREATE_COMPLETE\n"
        "    │   └── a  OS::Heat::TestResource  CREATE_COMPLETE\n"
        "    ├── c  OS::Heat::TestResource  CREATE_COMPLETE\n"
        "    │   └── a  OS::Heat::TestResource  CREATE_COMPLETE\n"
        "    └── a  OS::Heat::TestResource  CREATE_COMPLETE\n"
    )


def test_tree_spells_out_a_shared_branch_once(run, engine):
    stack_id = engine.add_stack("web")
    for name in "abxy":
        engine.add_resource(stack_id, name)
    engine.edges = [["x", "b"], ["y", "b"], ["b", "a"]]
    lines = [
        line.lstrip("│├└─ \N{NO-BREAK SPACE}").split("  ")[0]
        for line in run("stack", "graph", "web").out.splitlines()
    ]
    assert lines == ["web CREATE_COMPLETE", "x", "b", "a", "y", "b"]


def test_dot(run, engine, diamond):
    out = run("stack", "graph", "web", "--format", "dot").out
    assert out.startswith('digraph "web CREATE_COMPLETE" {\n')
    assert '  "a" -> "b";\n' in out
    assert '"d" [label="d\\nOS::Heat::TestResource\\nCREATE_FAILED", fillcolor="#f8d3d0"];' in out


def test_what_is_being_cleared_away_is_drawn(run, engine, diamond):
    gone = {"name": "a", "type": "OS::Heat::None", "action": "DELETE", "status": "FAILED", "reason": "no"}
    successor = {"id": "row", "version": 2, "physical_id": None, "action": "CREATE", "status": "COMPLETE"}
    engine.clearing = [
        {**gone, "physical_id": "old", "version": 1, "wanted": False, "replaced_by": successor},
        {**gone, "physical_id": "x", "version": 0, "wanted": False, "replaced_by": None},
    ]
    assert run("stack", "graph", "web").out.endswith(
        "└── being cleared away\n"
        "    ├── a  OS::Heat::None  DELETE_FAILED  no  version 1, replaced by version 2\n"
        "    └── a  OS::Heat::None  DELETE_FAILED  no  version 0, not wanted any more\n"
    )
    dot = run("stack", "graph", "web", "--format", "dot").out
    assert '"a (version 1)" -> "a" [label="replaced by", style=dashed, constraint=false];' in dot
    assert '"a (version 0)" ->' not in dot
    assert "a (version 0)" in run("stack", "graph", "web", "--format", "svg").out


def test_json(run, engine, diamond):
    graph = run("stack", "graph", "web", "--format", "json").json
    assert ["d", "b"] in graph["edges"]
    assert graph["nodes"][3]["status"] == "FAILED"


def test_svg_has_a_box_for_each_resource_and_a_path_for_each_edge(run, engine, diamond):
    drawing = ET.fromstring(run("stack", "graph", "web", "--format", "svg").out)
    boxes = {group.findtext(f"{SVG}text"): box(group) for group in drawing.iter(f"{SVG}g")}
    assert set(boxes) == set("abcd")
    x = {name: float(one["x"]) for name, one in boxes.items()}
    assert x["a"] < x["b"] == x["c"] < x["d"]
    assert boxes["d"]["fill"] == "#f8d3d0"
    edges = [path for path in drawing.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(edges) == 5
    titles = [title.text for title in drawing.iter(f"{SVG}title")]
    assert any('no <image> & "no" luck' in str(title) for title in titles)


def test_boxes_do_not_overlap_and_are_inside_the_drawing():
    names = [f"server-{number}" for number in range(12)]
    drawing = ET.fromstring(graph_svg.render(_graph(dict.fromkeys(names[2:], names[:2])), "t"))
    boxes = sorted(
        tuple(float(box(group)[key]) for key in ("x", "y", "width", "height"))
        for group in drawing.iter(f"{SVG}g")
    )
    for (x, y, _, height), (next_x, next_y, _, _) in pairwise(boxes):
        assert next_x > x or next_y >= y + height
    for x, y, width, height in boxes:
        assert x >= 0
        assert y >= 0
        assert x + width <= float(drawing.attrib["width"])
        assert y + height <= float(drawing.attrib["height"])


def test_what_was_never_touched_is_not_shown_as_done():
    graph = _graph({"a": []})
    graph["nodes"][0]["action"] = "INIT"
    drawing = ET.fromstring(graph_svg.render(graph, "t"))
    (group,) = drawing.iter(f"{SVG}g")
    assert box(group)["fill"] == "#ececec"
    assert "1 to do" in [text.text for text in drawing.iter(f"{SVG}text")]


def test_an_empty_stack_has_a_drawing_too():
    empty: dict[str, Any] = {"nodes": [], "edges": []}
    assert ET.fromstring(graph_svg.render(empty, "empty")).tag == f"{SVG}svg"
    assert graph_text.dot(empty, "empty").startswith("digraph")


@given(
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=40).map(
        lambda pairs: {
            str(node): sorted({str(low) for low, high in pairs if low < high == node}) for node in range(15)
        }
    )
)
def test_every_edge_goes_one_layer_on_at_each_step(requires):
    layout = arrange(requires)
    at = {key: number for number, layer in enumerate(layout.layers) for key in layer}
    assert len(at) == sum(len(layer) for layer in layout.layers)
    for name, required_names in requires.items():
        assert (at[name] == 0) == (not required_names)
        for required in required_names:
            path = layout.paths[required, name]
            assert (path[0], path[-1]) == (required, name)
            assert [at[key] for key in path] == list(range(at[required], at[name] + 1))


def box(group: ET.Element) -> dict[str, str]:
    (rectangle,) = group.iter(f"{SVG}rect")
    return rectangle.attrib


def _graph(requires):
    names = dict.fromkeys([*requires, *(one for required in requires.values() for one in required)])
    nodes = [
        {
            "name": name,
            "type": "OS::Heat::None",
            "action": "CREATE",
            "status": "COMPLETE",
            "reason": "",
            "physical_id": None,
        }
        for name in names
    ]
    return {"nodes": nodes, "edges": [[name, one] for name, required in requires.items() for one in required]}
