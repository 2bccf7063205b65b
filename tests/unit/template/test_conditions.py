# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

PARAMETERS = {
    "env": {"type": "string", "default": "prod"},
    "flag": {"type": "boolean", "default": True},
    "list": {"type": "comma_delimited_list", "default": "a,b"},
}


def template(conditions=None, version="wallaby", **sections):
    return {
        "heat_template_version": version,
        "parameters": PARAMETERS,
        "conditions": conditions or {},
    } | sections


def holds(frozen, condition, **conditions):
    outputs = {"o": {"value": {"if": ["it", "yes", "no"]}}}
    whole = template({"it": condition, **conditions}, outputs=outputs)
    return frozen(whole).outputs["o"].value == "yes"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (True, True),
        (False, False),
        ({"equals": [{"get_param": "env"}, "prod"]}, True),
        ({"equals": [1, "1"]}, False),
        ({"get_param": "flag"}, True),
        ({"not": {"get_param": "flag"}}, False),
        ({"not": "other"}, True),
        ({"and": [True, {"not": False}]}, True),
        ({"and": [True, "other"]}, False),
        ({"or": ["other", {"equals": [1, 1]}]}, True),
        ({"or": [False, "other"]}, False),
        ("other", False),
        ({"contains": ["a", {"get_param": "list"}]}, True),
        ({"yaql": {"expression": "$.data.len() = 2", "data": {"get_param": "list"}}}, True),
        ({"equals": [{"not": True}, False]}, True),
    ],
)
def test_a_condition_is_true_or_false(frozen, condition, expected):
    assert holds(frozen, condition, other={"equals": [1, 2]}) is expected


def test_conditions_use_conditions_in_any_order(frozen):
    chain = {f"c{i}": {"not": f"c{i + 1}"} for i in range(5000)}
    assert holds(frozen, "c0", **chain, c5000=True) is True


def test_a_circle_of_conditions_is_an_error(problems_of):
    found = problems_of(template({"a": {"and": ["b", True]}, "b": {"not": "c"}, "c": "a"}))
    assert found == {"conditions.a": "Circular dependency: a -> b -> c -> a."}


@pytest.mark.parametrize(
    ("condition", "path", "sentence"),
    [
        ("nothing", "", "There is no condition 'nothing'."),
        (1, "", "A condition has to be true or false, not a number (1)."),
        ({"get_param": "env"}, "", "not a text ('prod')"),
        ({"get_param": "x"}, ".get_param", "The Parameter (x) was not provided."),
        ({"get_attr": ["a", "x"]}, ".get_attr", "A condition cannot use get_attr; it can use get_param"),
        ({"list_join": [",", []]}, ".list_join", "A condition cannot use list_join"),
        ({"equals": [1]}, ".equals", "a list of two values"),
        ({"and": [True]}, ".and", "at least two conditions"),
        ({"or": True}, ".or", "at least two conditions"),
        ({"or": [True, 1]}, ".or[1]", "true or false"),
        ({"not": {"equals": [{"get_file": "x"}, 1]}}, ".not.equals[0].get_file", "cannot use get_file"),
        ({"a": 1, "b": 2}, "", "true or false, not a map"),
    ],
)
def test_a_wrong_condition_is_reported_once(problems_of, condition, path, sentence):
    outputs = {"o": {"value": {"if": ["c", 1, 2]}}, "p": {"value": 1, "condition": "c"}}
    snippets = {"a": {"type": "T", "condition": "c"}, "b": {"type": "T", "depends_on": "a"}}
    found = problems_of(template({"c": condition}, outputs=outputs, resources=snippets))
    assert list(found) == [f"conditions.c{path}"]
    assert sentence in found[f"conditions.c{path}"]


@pytest.mark.parametrize(("version", "known"), [("ocata", False), ("pike", True)])
def test_contains_became_a_condition_with_pike(frozen, problems_of, version, known):
    whole = template({"c": {"contains": ["a", ["a"]]}}, version=version)
    if known:
        assert frozen(whole)
    else:
        assert set(problems_of(whole)) == {"conditions.c"}


def test_a_resource_that_is_switched_off_vanishes(frozen):
    snippets = {
        "a": {
            "type": "T",
            "condition": {"not": {"get_param": "flag"}},
            "properties": {"x": {"get_param": 1}},
        },
        "b": {"type": "T", "depends_on": ["a", "c"]},
        "c": {"type": "T", "condition": True},
        "d": {"type": "T", "properties": {"x": {"if": [False, {"get_resource": "a"}, "none"]}}},
    }
    definitions = frozen(template(resources=snippets)).definitions
    assert list(definitions) == ["b", "c", "d"]
    assert definitions["b"].depends_on == ("c",)
    assert definitions["d"].properties == {"x": "none"}


def test_a_use_of_a_resource_that_is_switched_off_is_an_error(problems_of):
    snippets = {
        "a": {"type": "T", "condition": False},
        "b": {"type": "T", "properties": {"x": {"get_resource": "a"}}},
    }
    outputs = {"o": {"value": {"get_attr": ["a", "x"]}}}
    found = problems_of(template(resources=snippets, outputs=outputs))
    assert set(found) == {"resources.b.properties.x.get_resource", "outputs.o.value.get_attr[0]"}
    assert set(found.values()) == {"The resource 'a' is switched off by its condition."}


def test_an_output_that_is_switched_off_is_listed_without_a_value(frozen):
    snippets = {"a": {"type": "T", "condition": False}}
    outputs = {"o": {"value": {"get_attr": ["a", "x"]}, "condition": False, "description": "d"}}
    output = frozen(template(resources=snippets, outputs=outputs)).outputs["o"]
    assert (output.value, output.condition_holds, output.description) == (None, False, "d")


def test_conditions_came_with_newton(problems_of):
    old = {
        "heat_template_version": "2016-04-08",
        "resources": {"a": {"type": "T", "condition": True}},
        "outputs": {"o": {"value": {"if": [True, 1, 2]}, "condition": True}},
    }
    assert set(problems_of(old)) == {"resources.a.condition", "outputs.o.condition"}


# -- if ---------------------------------------------------------------------------------------------


def test_only_the_chosen_value_is_evaluated(value_of):
    assert value_of({"if": [True, "a", {"get_param": "nothing"}]}) == "a"
    assert value_of({"if": [{"equals": [1, 2]}, {"get_param": "nothing"}, ["b"]]}) == ["b"]


def test_without_an_alternative_the_item_is_dropped(value_of, problem_of):
    none = {"if": [False, "x"]}
    assert value_of(["a", none, {"if": [True, "b"]}]) == ["a", "b"]
    assert value_of({"k": none, "l": 1}) == {"l": 1}
    assert value_of({"list_join": [",", ["a", none]]}) == "a"
    assert value_of(none) is None
    assert problem_of({"list_join": none})[0] == "list_join"
    assert problem_of({"get_param": none})[0] == "get_param"
    assert problem_of({"get_file": none})[0] == "get_file"
    assert problem_of(none, version="rocky") == (
        "if",
        "It takes a list of a condition, a value if it holds and a value if not.",
    )


@pytest.mark.parametrize("args", [[], [True], [True, 1, 2, 3], {"a": 1}, None])
def test_if_takes_two_or_three_arguments(problem_of, args):
    path, sentence = problem_of({"if": args})
    assert path == "if"
    assert sentence.endswith("a value if not (optional).")


def test_a_mistake_in_the_condition_of_an_if_is_reported(problem_of):
    assert problem_of({"if": ["x", 1, 2]}) == ("if[0]", "There is no condition 'x'.")
    assert problem_of({"if": [{"not": 1}, 1, 2]})[0] == "if[0].not"
