# SPDX-License-Identifier: Apache-2.0
"""Bodies that are nearly right: the mistakes of somebody who knows what a template is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

NAMES = tuple(f"fuzz-{number}" for number in range(6))

TEMPLATES: tuple[dict[str, Any], ...] = (
    {"heat_template_version": "2018-08-31"},
    {
        "heat_template_version": "2021-04-16",
        "description": "two resources",
        "parameters": {
            "word": {"type": "string", "default": "a", "constraints": [{"length": {"min": 1, "max": 9}}]},
            "many": {"type": "comma_delimited_list", "default": "alpha,beta", "hidden": True},
            "count": {"type": "number", "default": 3, "constraints": [{"range": {"min": 1}}]},
            "deep": {"type": "json", "default": {"a": [1, {"b": None}]}},
            "yes": {"type": "boolean", "default": True, "immutable": True},
        },
        "parameter_groups": [{"label": "all", "parameters": ["word", "many"]}],
        "conditions": {"is_a": {"equals": [{"get_param": "word"}, "a"]}, "not_a": {"not": "is_a"}},
        "resources": {
            "one": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "word"}},
                "metadata": {"a": {"get_param": ["deep", "a", 1]}},
                "deletion_policy": "retain",
            },
            "two": {
                "type": "OS::Heat::Value",
                "condition": "is_a",
                "depends_on": ["one"],
                "properties": {
                    "value": {
                        "if": [
                            "is_a",
                            {"repeat": {"template": {"%x%": 1}, "for_each": {"%x%": {"get_param": "many"}}}},
                            {"get_attr": ["one", "output"]},
                        ]
                    },
                },
            },
            "three": {
                "type": "OS::Heat::RandomString",
                "properties": {"length": {"get_param": "count"}, "character_classes": [{"class": "digits"}]},
            },
        },
        "outputs": {
            "joined": {
                "description": "all of it",
                "value": {"list_join": ["-", [{"get_attr": ["three", "value"]}, {"get_resource": "one"}]]},
            },
            "replaced": {
                "value": {"str_replace": {"template": "x y", "params": {"x": {"get_param": "word"}}}}
            },
            "asked": {"value": {"yaql": {"expression": "$.data.len()", "data": {"get_param": "many"}}}},
        },
    },
    {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Parameters": {"word": {"Type": "String", "Default": "a"}},
        "Resources": {"one": {"Type": "OS::Heat::TestResource", "Properties": {"value": {"Ref": "word"}}}},
        "Outputs": {"word": {"Value": {"Fn::GetAtt": ["one", "output"]}}},
    },
)

ENVIRONMENTS: tuple[Any, ...] = (
    None,
    {},
    {"parameters": {"word": "b"}, "parameter_defaults": {"count": 5}},
    {
        "resource_registry": {
            "A": "OS::Heat::None",
            "OS::Heat::Test*": "A",
            "resources": {"one": {"hooks": ["pre-update"], "restricted_actions": "replace"}},
        }
    },
    "parameters: {word: c}\nresource_registry: {resources: {two: {A: B}}}",
)

FILES = {"env.yaml": "parameters: {word: d}\nparameter_merge_strategies: {default: merge}", "a.txt": "text"}

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["one", "two", "is_a", "word", "deep", "", "OS::Heat::Value", "2018-08-31", "-1", "%x%"]),
)
_FUNCTIONS = (
    *("get_param", "get_resource", "get_attr", "get_file", "if", "equals", "not", "and", "or", "repeat"),
    *("list_join", "str_replace", "str_split", "digest", "map_merge", "map_replace", "yaql", "filter"),
    *("list_concat", "contains", "make_url", "resource_facade", "Ref", "Fn::GetAtt", "Fn::FindInMap"),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=9), inner, max_size=4),
        st.dictionaries(st.sampled_from(_FUNCTIONS), inner, min_size=1, max_size=1),
    ),
    max_leaves=8,
)


def _places(value: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside of one."""
    yield so_far
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(item, (*so_far, key))


def _with(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    changed = copy.deepcopy(value)
    inside = changed
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = other
    return changed


@st.composite
def mutated(draw: st.DrawFn, originals: tuple[Any, ...], most: int = 2) -> Any:
    """Draw one of some values with a few of the values inside of it replaced."""
    value = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(0, most))):
        value = _with(value, draw(st.sampled_from(list(_places(value)))), draw(_VALUES))
    return value


ADOPTED = (
    {
        "template": TEMPLATES[1],
        "environment": {"parameters": {"word": "b"}},
        "files": {},
        "resources": {"one": {"resource_id": "7", "type": "OS::Heat::TestResource", "metadata": {}}},
    },
)

#: Bodies that describe a stack, whatever is to become of it.
STACKS = st.fixed_dictionaries(
    {"stack_name": st.sampled_from(NAMES), "template": mutated(TEMPLATES)},
    optional={
        "environment": mutated(ENVIRONMENTS, 1),
        "environment_files": st.just(["env.yaml"]),
        "files": mutated((FILES,), 1),
        "parameters": mutated(({}, {"word": "e"}, {"count": 4, "many": ["a"]}), 1),
        "clear_parameters": st.lists(st.sampled_from(["word", "count", "nothing"]), max_size=2),
        "timeout_mins": st.sampled_from([0, 1, "5", None, 999_999_999, -1, 10**12]),
        "disable_rollback": st.sampled_from([True, "False", None, 7]),
        "tags": st.sampled_from(["a", "a,b", "", "a,,b", "x" * 81, None]),
        "adopt_stack_data": st.one_of(st.none(), mutated(ADOPTED).map(json.dumps), st.text(max_size=9)),
    },
)
