# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest

from heatconv.errors import Invalid
from heatconv.template import merge

EMPTY: dict[str, Any] = {
    "parameters": {},
    "parameter_defaults": {},
    "resource_registry": {},
    "event_sinks": [],
    "encrypted_param_names": [],
}


def problems(*args, **options) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        merge(*args, **options)
    return dict(caught.value.problems)


def merged(*environments, template=None, parameters=None):
    files = {f"e{i}": json.dumps(environment) for i, environment in enumerate(environments)}
    return merge({"parameters": {"ignored": 1}}, list(files), files, parameters or {}, template=template)


@pytest.mark.parametrize("nothing", [None, "", {}, "{}", "# nothing"])
def test_an_environment_always_has_every_section(nothing):
    assert merge(nothing, [], {}, {}) == EMPTY


def test_parameters_of_the_request_are_laid_over():
    environment = {"parameters": {"a": 1, "b": 1}, "resource_registry": {"T": "OS::Heat::None"}}
    result = merge(environment, [], {}, {"b": 2})
    assert result["parameters"] == {"a": 1, "b": 2}
    assert result["resource_registry"] == {"T": "OS::Heat::None"}
    assert environment["parameters"] == {"a": 1, "b": 1}


def test_a_text_is_yaml():
    assert merge("parameters:\n  d: 2020-01-01", [], {}, {})["parameters"] == {"d": "2020-01-01"}


def test_unknown_and_null_sections_are_reported():
    found = problems({"parameter": {}, "parameters": None, "event_sinks": {}}, [], {}, {})
    assert "There is no section 'parameter'" in found["parameter"]
    assert found["parameters"] == "It has to be a map, not null."
    assert found["event_sinks"] == "It has to be a list, not a map."
    assert "has to be a map, not a list" in problems("[]", [], {}, {})[""]
    assert "cannot be read" in problems("a: [", [], {}, {})[""]


def test_files_replace_the_environment_and_later_ones_win():
    result = merged(
        {"parameters": {"a": 1, "b": [1]}, "resource_registry": {"A": "B", "resources": {"r": {"X": "Y"}}}},
        {"parameters": {"b": [2], "c": None}, "resource_registry": {"resources": {"s": {"X": "Z"}}}},
        parameters={"d": 4},
    )
    assert result["parameters"] == {"a": 1, "b": [2], "d": 4}
    assert result["resource_registry"] == {"A": "B", "resources": {"r": {"X": "Y"}, "s": {"X": "Z"}}}


@pytest.mark.parametrize(
    ("strategy", "old", "new", "result"),
    [
        ("overwrite", [1], [2], [2]),
        ("merge", [1], [2], [1, 2]),
        ("merge", "a", "b", "ab"),
        ("merge", 1, 2, 3),
        ("merge", True, False, False),
        ("merge", {"a": {"x": 1}}, {"a": {"y": 2}, "b": 1}, {"a": {"y": 2}, "b": 1}),
        ("deep_merge", {"a": {"x": 1}, "c": 1}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}, "c": 1}),
        ("deep_merge", [1], [2], [1, 2]),
    ],
)
def test_a_strategy_says_how_a_parameter_is_merged(strategy, old, new, result):
    strategies = {"parameter_merge_strategies": {"p": strategy}}
    for section in ("parameters", "parameter_defaults"):
        found = merged({section: {"p": old}} | strategies, {section: {"p": new}} | strategies)
        assert found[section] == {"p": result}
    default = {"parameter_merge_strategies": {"default": strategy}}
    found = merged({"parameters": {"p": old}} | default, {"parameters": {"p": new}} | default)
    assert found["parameters"] == {"p": result}


def test_texts_are_merged_as_what_they_stand_for():
    types = {"l": "comma_delimited_list", "j": "json", "n": "number", "s": "string"}
    template = {
        "heat_template_version": "rocky",
        "parameters": {name: {"type": type_} for name, type_ in types.items()},
    }
    how = {"parameter_merge_strategies": {"default": "merge"}}
    result = merged(
        {"parameters": {"l": "a,b", "j": '{"a": 1}', "n": "1", "s": "a"}} | how,
        {"parameters": {"l": "c", "j": '{"b": 2}', "n": "2", "s": "b"}} | how,
        template=template,
    )
    assert result["parameters"] == {"l": ["a", "b", "c"], "j": {"a": 1, "b": 2}, "n": 3, "s": "ab"}


def test_files_have_to_agree_on_strategies():
    first = {"parameters": {"p": 1}, "parameter_merge_strategies": {"p": "merge"}}
    with pytest.raises(Invalid, match=r"'e0' merges this parameter by merge, 'e1' by overwrite"):
        merged(first, {"parameters": {"p": 2}})
    with pytest.raises(Invalid, match="a list and a number cannot be merged"):
        merged(first | {"parameters": {"p": [1]}}, first)
    with pytest.raises(Invalid, match="It has to be one of overwrite, merge, deep_merge, not 'x'"):
        merged({"parameter_merge_strategies": {"p": "x"}})


def test_a_missing_file_is_named():
    assert problems(None, ["e", "f"], {"e": ""}, {}) == {
        "": "There is no environment file 'f' among the files."
    }


def test_event_sinks_of_all_files_are_there():
    sinks = [{"event_sinks": [{"type": "zaqar-queue", "target": name}]} for name in "ab"]
    assert [sink["target"] for sink in merged(*sinks)["event_sinks"]] == ["a", "b"]


def test_the_registry_of_a_later_file_wins_and_comes_after():
    registries = [{"A": "X", "B*": None, "B1": "Y"}, {"A": None, "B1": "Z", "resources": {"r": {"A": "W"}}}]
    result = merged(*({"resource_registry": registry} for registry in registries))["resource_registry"]
    assert list(result.items()) == [("B*", None), ("A", None), ("B1", "Z"), ("resources", {"r": {"A": "W"}})]


@pytest.mark.parametrize(
    ("environment", "path", "sentence"),
    [
        ({"event_sinks": ["x"]}, "event_sinks[0]", "It has to be a map with the key 'type', not a text."),
        (
            {"event_sinks": [{"type": "a"}, {"target": "q"}]},
            "event_sinks[1].type",
            "name a type of event sink",
        ),
        (
            {"encrypted_param_names": ["a", 1]},
            "encrypted_param_names[1]",
            "the name of a parameter, not a number",
        ),
        (
            {"parameter_merge_strategies": {"p": []}},
            "parameter_merge_strategies.p",
            "one of overwrite, merge",
        ),
        ({"resource_registry": {"T": 1}}, "resource_registry.T", "It has to be a type"),
    ],
)
def test_a_wrong_section_is_told_with_its_place(environment, path, sentence):
    found = problems(environment, [], {}, {})
    assert list(found) == [path]
    assert sentence in found[path]
    found = problems(None, ["e.yaml"], {"e.yaml": json.dumps(environment)}, {})
    assert list(found) == [f"e.yaml.{path}"]


@pytest.mark.parametrize("value", ["*hunter22", "!hunter22 x", "!!int hunter22", "{a: !hunter22 []}"])
def test_no_mistake_repeats_a_value(value):
    [sentence] = problems(f"parameters:\n  p: {value}", [], {}, {}).values()

    assert "line 2" in sentence
    assert "hunter" not in sentence


def test_merging_deeply_puts_what_is_inside_of_maps_together():
    how = {"parameter_merge_strategies": {"p": "deep_merge"}}
    old = {"list": [1], "text": "a", "number": 1, "map": {"x": {"y": "1"}}, "mixed": "a", "kept": 1}
    new = {"list": [2], "text": "b", "number": 2, "map": {"x": {"y": "2"}, "z": 1}, "mixed": [1]}
    result = merged({"parameters": {"p": old}} | how, {"parameters": {"p": new}} | how)["parameters"]["p"]
    assert result == {
        "list": [1, 2],
        "text": "ab",
        "number": 2,
        "map": {"x": {"y": "12"}, "z": 1},
        "mixed": [1],
        "kept": 1,
    }
