# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from heatconv.errors import ImmutableParameters, Invalid
from heatconv.template import check_immutable


def template(declaration, **more):
    return {"heat_template_version": "rocky", "parameters": {"p": declaration}} | more


@pytest.mark.parametrize(
    ("type_", "given", "value", "shown"),
    [
        ("string", "x", "x", "x"),
        ("string", 5, "5", "5"),
        ("string", True, "True", "True"),
        ("string", "", "", ""),
        ("number", 3, 3, "3"),
        ("number", "3", 3, "3"),
        ("number", "2.5", 2.5, "2.5"),
        ("number", "1e3", 1000.0, "1000.0"),
        ("comma_delimited_list", "a, b", ["a", " b"], "a, b"),
        ("comma_delimited_list", ["a", 1, None], ["a", "1", ""], "a,1,"),
        ("comma_delimited_list", "", [], ""),
        ("json", '{"a": [1]}', {"a": [1]}, '{"a": [1]}'),
        ("json", {"a": 1}, {"a": 1}, '{"a": 1}'),
        ("json", [1], [1], "[1]"),
        ("json", "", {}, "{}"),
        ("boolean", "yes", True, "True"),
        ("boolean", "OFF", False, "False"),
        ("boolean", 1, True, "True"),
        ("boolean", False, False, "False"),
    ],
)
def test_a_value_takes_the_type_of_its_parameter(frozen, type_, given, value, shown):
    parameter = frozen(template({"type": type_}), {"p": given}).parameters["p"]
    assert parameter.value == value
    assert type(parameter.value) is type(value)
    assert parameter.shown == shown


@pytest.mark.parametrize(
    ("type_", "given", "sentence"),
    [
        ("string", {}, "It has to be a text, not a map."),
        ("number", "x", "It has to be a number, not 'x'."),
        ("number", True, "It has to be a number, not True."),
        ("number", "nan", "It has to be a number, not 'nan'."),
        ("number", "9" * 400, "It has to be a number"),
        ("comma_delimited_list", {}, "It has to be a list or a text with commas, not a map."),
        ("comma_delimited_list", [[1]], "It has to be a text, not a list."),
        ("json", "{", "It has to be JSON: "),
        ("json", "[" * 5000 + "]" * 5000, "It "),
        ("json", "[" * 150 + "]" * 150, "nested more than 64 levels deep"),
        ("boolean", "maybe", "It has to be true or false, not 'maybe'."),
    ],
)
def test_a_value_of_another_type_is_refused(problems_of, type_, given, sentence):
    assert sentence in problems_of(template({"type": type_}), {"p": given})["parameters.p"]


def test_a_parameter_without_a_value_is_reported(problems_of):
    assert problems_of(template({"type": "string"})) == {"parameters": "The Parameter (p) was not provided."}
    assert "parameters" in problems_of(template({"type": "string"}), {"p": None})


def test_a_value_for_no_parameter_is_reported(problems_of):
    found = problems_of(template({"type": "string", "default": ""}), {"q": 1})
    assert found == {"parameters.q": "The template has no such parameter; leave it out."}


def test_values_come_from_parameters_then_defaults_of_the_environment_then_the_template(frozen):
    declared = {name: {"type": "string", "default": "template"} for name in "abc"}
    environment = {
        "parameters": {"a": "given"},
        "parameter_defaults": {"a": "environment", "b": "environment", "unknown": 1},
    }
    parameters = frozen(
        {"heat_template_version": "rocky", "parameters": declared}, environment=environment
    ).parameters
    assert [parameters[name].value for name in "abc"] == ["given", "environment", "template"]


def test_pseudo_parameters_are_shown_and_cannot_be_declared(frozen, problems_of):
    parameters = frozen({"heat_template_version": "rocky"}).parameters
    assert {name: parameter.shown for name, parameter in parameters.items()} == {
        "OS::stack_name": "teststack",
        "OS::stack_id": "1234",
        "OS::project_id": "p1",
    }
    found = problems_of(
        {"heat_template_version": "rocky", "parameters": {"OS::stack_id": {"type": "string", "default": ""}}}
    )
    assert "every template has" in found["parameters.OS::stack_id"]


def test_a_hidden_value_is_shown_nowhere(frozen, problems_of):
    declared = {"type": "string", "hidden": True, "constraints": [{"allowed_pattern": "a+"}]}
    parameter = frozen(template(declared), {"p": "aaa"}).parameters["p"]
    assert parameter.shown == "******"
    assert "aaa" not in repr(parameter)
    assert "secret" not in str(problems_of(template(declared), {"p": "secret"}))
    assert "secret" not in str(problems_of(template({"type": "number", "hidden": "yes"}), {"p": "secret"}))


@pytest.mark.parametrize("kind", ["string", "number", "comma_delimited_list", "json"])
def test_what_is_shown_in_place_of_a_hidden_value_is_no_value(problems_of, kind):
    hidden = {"type": kind, "hidden": True}
    for declared, given in ((hidden, {"p": "******"}), (hidden | {"default": "******"}, {})):
        assert "give the value itself" in str(problems_of(template(declared), given))


@pytest.mark.parametrize(
    ("type_", "constraint", "values"),
    [
        ("string", {"length": {"min": 2, "max": 3}}, ("abc", "a", "Its length is 1, which is less than 2.")),
        ("string", {"length": {"max": 3}}, ("abc", "abcd", "Its length is 4, which is more than 3.")),
        ("comma_delimited_list", {"length": {"max": 1}}, ("a", "a,b", "Its length is 2")),
        ("json", {"length": {"min": 1}}, ({"a": 1}, {}, "Its length is 0")),
        ("number", {"range": {"min": 1, "max": 5}}, ("5", 6, "It is 6, which is more than 5.")),
        ("number", {"range": {"min": "0.5"}}, (0.5, 0.4, "which is less than 0.5")),
        ("number", {"modulo": {"step": 4, "offset": 1}}, (9, 8, "not a multiple of 4 with an offset of 1")),
        ("string", {"allowed_values": ["a", 1]}, ("1", "b", "It has to be one of a, 1.")),
        ("number", {"allowed_values": [1, "2"]}, (2, 3, "It has to be one of 1, 2.")),
        ("comma_delimited_list", {"allowed_values": ["a", "b"]}, ("b,a", "a,c", "one of a, b")),
        ("string", {"allowed_pattern": "[a-z]+"}, ("abc", "abc1", "It does not match the pattern [a-z]+.")),
        ("string", {"custom_constraint": "test.one"}, ("1", "2", "It is not a valid test.one.")),
        ("string", {"custom_constraint": "unknown"}, ("1", None, "")),
        ("boolean", {"allowed_values": [True]}, (True, False, "one of True")),
    ],
)
def test_a_value_has_to_satisfy_the_constraints(frozen, problems_of, type_, constraint, values):
    good, bad, sentence = values
    hooks = {"test.one": lambda value: None if value == "1" else "It is not a valid test.one."}
    declared = {"type": type_, "constraints": [constraint]}
    assert "p" in frozen(template(declared), {"p": good}, constraints=hooks).parameters
    if bad is not None:
        assert sentence in problems_of(template(declared), {"p": bad}, constraints=hooks)["parameters.p"]
        described = {"type": type_, "constraints": [constraint | {"description": "Please do better."}]}
        found = problems_of(template(described), {"p": bad}, constraints=hooks)
        assert found == {"parameters.p": "Please do better."}


def test_every_violated_constraint_is_reported(problems_of, frozen):
    declared = {
        "type": "string",
        "constraints": [{"length": {"min": 5}}, {"allowed_pattern": "[0-9]*", "description": "digits"}],
    }
    with pytest.raises(Invalid) as caught:
        frozen(template(declared), {"p": "ab"})
    assert [sentence for _path, sentence in caught.value.problems] == [
        "Its length is 2, which is less than 5.",
        "digits",
    ]


def test_a_default_has_to_be_right_too(problems_of):
    assert "parameters.p.default" in problems_of(template({"type": "number", "default": "x"}), {"p": 1})
    declared = {"type": "number", "default": 9, "constraints": [{"range": {"max": 5}}]}
    assert "more than 5" in problems_of(template(declared))["parameters.p.default"]


@pytest.mark.parametrize(
    ("declaration", "path", "sentence"),
    [
        ("string", "", "It has to be a map, not a text."),
        ({}, ".type", "It has to be one of string, number"),
        ({"type": "strin"}, ".type", "not 'strin'"),
        ({"type": ["string"]}, ".type", "It has to be one of"),
        ({"type": "string", "defualt": 1}, ".defualt", "There is no 'defualt' here"),
        ({"type": "string", "label": []}, ".label", "It has to be a text, not a list."),
        ({"type": "string", "hidden": "perhaps"}, ".hidden", "true or false"),
        ({"type": "string", "immutable": []}, ".immutable", "true or false"),
        ({"type": "string", "constraints": {}}, ".constraints", "It has to be a list, not a map."),
        ({"type": "string", "constraints": ["x"]}, ".constraints[0]", "It has to be a map with one of"),
        ({"type": "string", "constraints": [{}]}, ".constraints[0]", "It has to be a map with one of"),
        (
            {"type": "string", "constraints": [{"length": {"min": 1}, "description": 1}]},
            ".constraints[0].description",
            "It has to be a text",
        ),
        (
            {"type": "string", "constraints": [{"range": {"min": 1}}]},
            ".constraints[0].range",
            "A string parameter cannot have a range constraint.",
        ),
        ({"type": "string", "constraints": [{"length": {}}]}, ".constraints[0].length", "at least one"),
        ({"type": "string", "constraints": [{"length": {"min": "x"}}]}, ".constraints[0].length", "a number"),
        ({"type": "number", "constraints": [{"modulo": {"step": 2}}]}, ".constraints[0].modulo", "both"),
        (
            {"type": "number", "constraints": [{"modulo": {"step": 0, "offset": 0}}]},
            ".constraints[0].modulo",
            "step not 0",
        ),
        (
            {"type": "number", "constraints": [{"modulo": {"step": 2, "offset": 3}}]},
            ".constraints[0].modulo",
            "smaller than the step",
        ),
        (
            {"type": "string", "constraints": [{"allowed_values": 1}]},
            ".constraints[0].allowed_values",
            "list",
        ),
        (
            {"type": "string", "constraints": [{"allowed_pattern": "("}]},
            ".constraints[0].allowed_pattern",
            "not a regular expression",
        ),
        (
            {"type": "string", "constraints": [{"allowed_pattern": 1}]},
            ".constraints[0].allowed_pattern",
            "text",
        ),
        (
            {"type": "string", "constraints": [{"custom_constraint": 1}]},
            ".constraints[0].custom_constraint",
            "name",
        ),
    ],
)
def test_a_wrong_declaration_is_reported(problems_of, declaration, path, sentence):
    assert sentence in problems_of(template(declaration))[f"parameters.p{path}"]


def test_a_parameter_with_mistakes_makes_no_more_of_them_where_it_is_used(problems_of):
    outputs = {"o": {"value": {"list_join": [",", [{"get_param": "p"}]]}}}
    assert set(problems_of(template({"type": "x"}, outputs=outputs))) == {"parameters.p.type"}


@pytest.mark.parametrize(("version", "good"), [("pike", False), ("queens", True)])
def test_tags_came_with_queens(frozen, problems_of, version, good):
    declared = {"type": "string", "default": "", "tags": ["a", "b"]}
    whole = {"heat_template_version": version, "parameters": {"p": declared}}
    if good:
        assert frozen(whole).parameters["p"].schema.tags == ("a", "b")
    else:
        assert "parameters.p.tags" in problems_of(whole)


def test_modulo_came_with_ocata(frozen, problems_of):
    declared = {"type": "number", "default": 4, "constraints": [{"modulo": {"step": 2, "offset": 0}}]}
    assert frozen({"heat_template_version": "ocata", "parameters": {"p": declared}})
    found = problems_of({"heat_template_version": "newton", "parameters": {"p": declared}})
    assert "parameters.p.constraints[0]" in found


def test_groups_name_parameters_once(frozen, problems_of):
    declared = {"type": "string", "default": ""}
    good = [{"label": "l", "description": "d", "parameters": ["p"]}]
    assert frozen(template(declared, parameter_groups=good))
    bad = [{"parameters": ["p", "q", 1]}, {"parameters": ["p"], "x": 1, "label": 1}, {"label": "l"}, "x"]
    found = problems_of(template(declared, parameter_groups=bad))
    assert found["parameter_groups[0].parameters[1]"] == "There is no parameter 'q'."
    assert "parameter_groups[0].parameters[2]" in found
    assert "in a group already" in found["parameter_groups[1].parameters[0]"]
    assert "no 'x' here" in found["parameter_groups[1].x"]
    assert found["parameter_groups[1].label"] == "It has to be a text, not a number."
    assert "parameter_groups[2]" in found
    assert "parameter_groups[3]" in found


def test_an_immutable_parameter_keeps_its_value(frozen):
    declared = {"type": "string", "immutable": True, "default": "a"}
    one, two = frozen(template(declared)), frozen(template(declared), {"p": "b"})
    check_immutable(one.parameters, one.parameters)
    check_immutable({}, one.parameters)
    with pytest.raises(ImmutableParameters, match="immutable and may not be updated: p"):
        check_immutable(one.parameters, two.parameters)
