# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.errors import ActionFailed, Invalid
from heatconv.model.deferred import Reference
from heatconv.model.nodes import NodeData
from heatconv.template import freeze, load_template, merge, resolve


def node(name, reference_id=None, attributes=None):
    """Return what a resource told, its attributes keyed by the path they were asked for."""
    keyed = {Reference(name, path[0], path[1:]).key: value for path, value in (attributes or {}).items()}
    return NodeData(name=name, resource_id="1", reference_id=reference_id, attributes=keyed)


NODES = {
    "a": node(
        "a",
        "id-a",
        {
            ("x",): {"y": [1, 2], "k": "v"},
            ("x", "y", 0): "pushed",
            ("",): {"x": 1},
            ("none",): None,
            ("text",): "b,c",
        },
    ),
    "b": node("b"),
}


@pytest.mark.parametrize(
    ("value", "version", "expected"),
    [
        ({"get_resource": "a"}, "rocky", "id-a"),
        ({"get_resource": "b"}, "rocky", "b"),
        ({"get_attr": ["a", "x", "y", 0]}, "rocky", "pushed"),
        ({"get_attr": ["a", "x", "y", 0]}, "2013-05-23", 1),
        ({"get_attr": ["a", "x", "nothing", 0]}, "2013-05-23", None),
        ({"get_attr": ["a", "x", {"get_attr": ["a", "none"]}]}, "rocky", None),
        ({"get_attr": ["a", "x", {"str_replace": {"template": "q", "params": {"q": "k"}}}]}, "rocky", None),
        ({"get_attr": ["a"]}, "rocky", {"x": 1}),
        ({"get_attr": ["a", "missing"]}, "rocky", None),
        ({"get_attr": ["b", "missing", 1]}, "rocky", None),
        ({"list_join": ["-", [{"get_resource": "a"}, {"get_attr": ["a", "none"]}]]}, "rocky", "id-a-"),
        ({"str_split": [",", {"get_attr": ["a", "text"]}, 1]}, "rocky", "c"),
        ({"list_join": ["", {"str_split": [",", {"get_attr": ["a", "text"]}]}]}, "rocky", "bc"),
        ({"map_merge": [{"get_attr": ["a", "x"]}, {"k": 1}]}, "rocky", {"y": [1, 2], "k": 1}),
        ([{"deep": [{"get_resource": "a"}]}], "rocky", [{"deep": ["id-a"]}]),
        (
            {"repeat": {"template": "%x%!", "for_each": {"%x%": {"get_attr": ["a", "x"]}}}},
            "rocky",
            ["y!", "k!"],
        ),
        ({"get_param": ["p", {"get_resource": "b"}]}, "rocky", "from p"),
        ({"get_param": ["p", {"get_resource": "a"}]}, "rocky", ""),
        ({"yaql": {"expression": "$.data.y.sum()", "data": {"get_attr": ["a", "x"]}}}, "rocky", 3),
        ({"$fn": {"get_resource": "a"}}, "rocky", {"$fn": "id-a"}),
    ],
)
def test_deferred_calls_are_made(value_of, value, version, expected):
    parameters = {"p": {"type": "json", "default": {"b": "from p"}}}
    assert resolve(value_of(value, version=version, parameters=parameters), NODES) == expected


def test_what_run_time_selects_follows_what_was_pushed(value_of):
    value = value_of({"get_attr": ["a", "x", "y", {"get_attr": ["b", "index"]}, "z"]})
    nodes = {
        "a": node("a", attributes={("x", "y"): [{"z": "no"}, {"z": "yes"}]}),
        "b": node("b", attributes={("index",): 1}),
    }
    assert resolve(value, nodes) == "yes"


def test_resources_that_told_nothing_have_a_name_only(value_of):
    value = value_of([{"get_resource": "a"}, {"get_attr": ["a", "x"]}])
    assert resolve(value, {}) == ["a", None]


def test_results_are_data_even_if_they_look_like_calls(value_of):
    nodes = {"a": node("a", attributes={("x",): {"$fn": "get_resource", "args": "a"}})}
    call = {"$fn": "get_resource", "args": "a"}
    assert resolve(value_of({"get_attr": ["a", "x"]}), nodes) == call
    assert resolve(value_of({"list_concat": [[{"get_attr": ["a", "x"]}]]}), nodes) == [call]


def test_a_function_that_fails_names_itself(value_of):
    value = value_of({"list_join": [",", [], {"get_attr": ["a", "text"]}]})
    with pytest.raises(ActionFailed) as caught:
        resolve(value, NODES)
    assert str(caught.value) == "list_join[2]: It has to be a list, not a text ('b,c')."
    value = value_of({"str_replace": {"get_attr": ["a", "none"]}})
    with pytest.raises(ActionFailed, match="str_replace takes a map of template, params, not null"):
        resolve(value, NODES)


# -- one implementation -------------------------------------------------------------------------------

TEXTS = st.sampled_from(["", "a", "b,c", "%x%"])
SCALARS = TEXTS | st.integers(0, 3) | st.none()


def calls(inner):
    lists = st.lists(inner, max_size=3)
    maps = st.dictionaries(st.sampled_from(["a", "%x%"]), inner, max_size=2)
    return st.one_of(
        lists,
        maps,
        st.builds(lambda items: {"list_join": [",", items]}, lists),
        st.builds(lambda one, two: {"list_concat": [one, two]}, lists, inner),
        st.builds(lambda one, two: {"map_merge": [one, two]}, maps, inner),
        st.builds(lambda text, index: {"str_split": [",", text, index]}, inner, st.integers(0, 1)),
        st.builds(lambda text, params: {"str_replace": {"template": text, "params": params}}, inner, maps),
        st.builds(lambda items: {"repeat": {"template": "<%x%>", "for_each": {"%x%": items}}}, inner),
        st.builds(lambda values, items: {"filter": [values, items]}, lists, lists),
        st.builds(lambda value, items: {"contains": [value, items]}, inner, lists),
    )


EXPRESSIONS = st.recursive(st.builds(lambda value: {"leaf": value}, SCALARS), calls, max_leaves=6)


def with_leaves(expression, leaf):
    if isinstance(expression, list):
        return [with_leaves(item, leaf) for item in expression]
    if isinstance(expression, dict):
        if "leaf" in expression:
            return leaf(expression["leaf"])
        return {key: with_leaves(item, leaf) for key, item in expression.items()}
    return expression


@given(EXPRESSIONS)
def test_run_time_and_freezing_come_to_the_same(expression):
    attributes: dict = {}

    def as_attribute(value):
        name = f"n{len(attributes)}"
        attributes[(name,)] = value
        return {"get_attr": ["r", name]}

    late = with_leaves(expression, as_attribute)
    early = with_leaves(expression, lambda value: value)

    def evaluated(value):
        template = load_template(
            {
                "heat_template_version": "wallaby",
                "resources": {"r": {"type": "T"}},
                "outputs": {"o": {"value": value}},
            }
        )
        try:
            output = freeze(template, merge(None, [], {}, {}), {}, {}).outputs["o"]
            return resolve(output.value, {"r": node("r", attributes=attributes)})
        except (Invalid, ActionFailed):
            return "mistake"

    assert evaluated(late) == evaluated(early)


@pytest.mark.parametrize("call", [{"get_param": "x"}, {"list_join": ["", [{"get_param": ["x", 1]}]]}])
def test_a_parameter_that_a_nested_template_lacks_is_missed_when_its_output_is_asked_for(call):
    text = {"heat_template_version": "rocky", "outputs": {"o": {"value": call}}}
    template = load_template(text, limit=10_000)
    environment = merge({}, [], {}, {}, template=template)
    frozen = freeze(template, environment, {}, {}, facade={})

    with pytest.raises(ActionFailed) as refused:
        resolve(frozen.outputs["o"].value, NODES)
    assert str(refused.value) == "The Parameter (x) was not provided."
    with pytest.raises(Invalid):
        freeze(template, environment, {}, {})
