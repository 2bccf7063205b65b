# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from heatconv.resources import constraints, exception
from heatconv.resources.properties import Properties, Schema
from heatconv.resources.unknown import StandIn


def seen(schema, value):
    return Properties({"p": schema}, {"p": value})["p"]


def mistakes(schema, value):
    return list(
        Properties({"p": schema}, {"p": value}, parent_name="resources.r", section="properties").problems()
    )


@pytest.mark.parametrize(
    ("data_type", "given", "expected"),
    [
        (Schema.STRING, "a", "a"),
        (Schema.STRING, 3, "3"),
        (Schema.STRING, True, "True"),
        (Schema.INTEGER, "3", 3),
        (Schema.INTEGER, 3.0, 3),
        (Schema.NUMBER, "3", 3),
        (Schema.NUMBER, "0.5", 0.5),
        (Schema.BOOLEAN, "True", True),
        (Schema.BOOLEAN, "false", False),
        (Schema.MAP, {"a": 1}, {"a": 1}),
        (Schema.LIST, [1, "b"], [1, "b"]),
        (Schema.ANY, {"a": [1]}, {"a": [1]}),
    ],
)
def test_values_are_converted_to_their_type(data_type, given, expected):
    value = seen(Schema(data_type), given)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("data_type", "given", "sentence"),
    [
        (Schema.STRING, ["a"], "Value must be a string; got ['a']"),
        (Schema.INTEGER, "x", "Value 'x' is not an integer"),
        (Schema.INTEGER, 1.5, "Value '1.5' is not an integer"),
        (Schema.INTEGER, [], "Value '[]' is not an integer"),
        (Schema.NUMBER, "x", "Value 'x' is not a number"),
        (Schema.BOOLEAN, "yes", '"yes" is not a valid boolean'),
        (Schema.BOOLEAN, 1, '"1" is not a valid boolean'),
        (Schema.MAP, "x", '"x" is not a map'),
        (Schema.LIST, "x", '"x" is not a list'),
        (Schema.LIST, {"x": 1}, "\"{'x': 1}\" is not a list"),
    ],
)
def test_a_value_of_another_type_is_a_mistake(data_type, given, sentence):
    assert mistakes(Schema(data_type), given) == [("resources.r.properties.p", sentence)]
    with pytest.raises((ValueError, TypeError)):
        seen(Schema(data_type), given)


def test_conversion_lets_text_stand_for_lists_and_maps():
    assert seen(Schema(Schema.LIST, allow_conversion=True), "a, b") == ["a", "b"]
    assert seen(Schema(Schema.LIST, allow_conversion=True), "") == []
    assert seen(Schema(Schema.MAP, allow_conversion=True), '{"a": 1}') == {"a": 1}
    assert seen(Schema(Schema.STRING, allow_conversion=True), {"a": 1}) == '{"a": 1}'
    assert mistakes(Schema(Schema.MAP, allow_conversion=True), "{") != []


NESTED = Schema(
    Schema.LIST,
    schema=Schema(
        Schema.MAP,
        schema={
            "x": Schema(Schema.INTEGER, default=7),
            "name": Schema(Schema.STRING, required=True),
            "free": Schema(Schema.STRING),
        },
    ),
)


def test_nested_values_get_their_defaults():
    assert seen(NESTED, [{"name": 1}]) == [{"x": 7, "name": "1", "free": None}]


def test_nested_mistakes_are_told_all_with_their_path():
    assert mistakes(NESTED, [{"name": "a", "x": "b"}, {"y": 1}, 3]) == [
        ("resources.r.properties.p[0].x", "Value 'b' is not an integer"),
        ("resources.r.properties.p[1].y", "Unknown Property y"),
        ("resources.r.properties.p[1].name", "Property name not assigned"),
        ("resources.r.properties.p[2]", '"3" is not a map'),
    ]


def test_what_is_not_given_is_the_default_or_none():
    schemata = {
        "a": Schema(Schema.STRING),
        "b": Schema(Schema.LIST, default=["x"]),
        "c": Schema(Schema.BOOLEAN, default=False),
    }
    properties = Properties(schemata, {"c": None})
    assert dict(properties) == {"a": None, "b": ["x"], "c": False}
    assert properties.get_user_value("b") is None
    assert list(properties.problems()) == []


def test_missing_and_unknown_properties_are_mistakes():
    properties = Properties({"a": Schema(Schema.STRING, required=True)}, {"b": 1})
    assert sorted(properties.problems()) == [(".a", "Property a not assigned"), (".b", "Unknown Property b")]
    with pytest.raises(ValueError, match="a not assigned"):
        properties["a"]
    with pytest.raises(KeyError):
        properties["b"]


def test_validate_raises_with_every_problem():
    schemata = {"a": Schema(Schema.INTEGER), "b": Schema(Schema.INTEGER)}
    properties = Properties(schemata, {"a": "x", "b": "y"}, parent_name="resources.r", section="properties")
    with pytest.raises(exception.StackValidationFailed) as caught:
        properties.validate()
    assert str(caught.value) == "Property error: resources.r.properties.a: Value 'x' is not an integer"
    assert [path for path, _ in caught.value.problems] == [
        "resources.r.properties.a",
        "resources.r.properties.b",
    ]


def test_a_property_that_is_not_implemented_may_not_be_used():
    assert mistakes(Schema(Schema.STRING, implemented=False), "x") == [
        ("resources.r.properties.p", "Property p not implemented yet")
    ]


@pytest.mark.parametrize(
    "schema",
    [
        Schema(Schema.INTEGER),
        Schema(Schema.STRING, required=True, constraints=[constraints.Length(min=5)]),
        NESTED,
    ],
)
def test_what_is_not_known_yet_is_not_judged(schema):
    assert mistakes(schema, StandIn()) == []


def test_what_is_known_beside_it_is():
    assert mistakes(NESTED, [StandIn(), {"name": StandIn(), "x": "b"}]) == [
        ("resources.r.properties.p[1].x", "Value 'b' is not an integer")
    ]
    short = Schema(Schema.LIST, constraints=[constraints.AllowedValues(["a"])])
    assert mistakes(short, [StandIn()]) == []


def test_what_is_not_known_yet_looks_like_nothing_or_like_its_name():
    assert seen(Schema(Schema.STRING), StandIn("port")) == "port"
    assert seen(Schema(Schema.STRING), StandIn()) is None
    assert seen(Schema(Schema.LIST, required=True), StandIn()) == []
    assert seen(Schema(Schema.INTEGER, default=3), StandIn()) == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"data_type": "Text"}, "not a property type"),
        ({"data_type": Schema.STRING, "schema": {}}, "nested schema"),
        ({"data_type": Schema.LIST, "schema": {}}, "nested schema"),
        ({"data_type": Schema.STRING, "update_allowed": True, "immutable": True}, "both"),
        ({"data_type": Schema.STRING, "required": True, "default": "x"}, "default"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(arguments, sentence):
    with pytest.raises(exception.InvalidSchemaError, match=sentence):
        Schema(**arguments)


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (constraints.Range(min=1, max=3), [1, 2.5, 3], [0, 4]),
        (constraints.Range(min=0), [0, 99], [-1]),
        (constraints.Range(max=0), [0, -9], [1]),
        (constraints.Length(min=1, max=2), ["a", [1, 2]], ["", "abc", []]),
        (constraints.Modulo(step=5, offset=2), [2, 7, -3], [0, 5]),
        (constraints.AllowedValues(["a", "b"]), ["a", ["a", "b"]], ["c", ["a", "c"], [None]]),
        (constraints.AllowedPattern("[a-z]+"), ["ab"], ["aB", ""]),
        (constraints.AllowedPattern(r"(a|b)\1"), ["aa", "bb"], ["ab", "aab"]),
        (constraints.AllowedPattern("(a+)+b"), ["aab"], ["a" * 5000]),
        (constraints.AllowedPattern("(.*)(.*)(.*)x"), ["x"], ["a" * 200_000]),
    ],
)
def test_constraints_accept_and_refuse(constraint, good, bad):
    for value in good:
        constraint.validate(value)
    for value in bad:
        with pytest.raises(ValueError, match=r"not|out of range"):
            constraint.validate(value)


def test_a_description_is_what_the_user_reads():
    with pytest.raises(ValueError, match=r"^One to three$"):
        constraints.Range(min=1, max=3, description="One to three").validate(9)


@pytest.mark.parametrize(
    "wrong",
    [
        constraints.Range,
        constraints.Length,
        lambda: constraints.Modulo(0, 0),
        lambda: constraints.Modulo(5, 5),
        lambda: constraints.Modulo(5, -1),
        lambda: constraints.AllowedValues("ab"),
    ],
)
def test_a_constraint_that_says_nothing_is_refused(wrong):
    with pytest.raises(exception.InvalidSchemaError):
        wrong()


class Even:
    message = "odd"

    def validate(self, value, context):
        return value % 2 == 0

    def error(self, value):
        return f"{value} is odd"


class Environment:
    def get_constraint(self, name):
        return {"even": Even}.get(name)


def test_custom_constraints_are_found_by_name():
    even = constraints.CustomConstraint("even", environment=Environment())
    even.validate(2)
    with pytest.raises(ValueError, match="3 is odd"):
        even.validate(3)
    unknown = constraints.CustomConstraint("nobody.knows", environment=Environment())
    with pytest.raises(ValueError, match=r'"3" cannot be checked: there is no constraint nobody\.knows here'):
        unknown.validate(3)


class Clumsy:
    def validate(self, value, context):
        return 9 // len(value) > 1

    def error(self, value):
        raise KeyError


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (3, "\"3\" cannot be checked: clumsy says object of type 'int' has no len()"),
        ("", '"" cannot be checked: clumsy says integer division or modulo by zero'),
        ("too long", '"too long" cannot be checked: clumsy says KeyError'),
    ],
)
def test_a_custom_constraint_that_raises_refuses_the_value(monkeypatch, caplog, value, sentence):
    monkeypatch.setitem(constraints.installed(), "clumsy", Clumsy)
    schema = Schema(Schema.ANY, constraints=[constraints.CustomConstraint("clumsy")])
    assert list(schema.problems(value, "p")) == [("p", sentence)]
    (record,) = (each for each in caplog.records if "Constraint clumsy" in each.getMessage())
    assert "in validate" in record.getMessage() or "in error" in record.getMessage()


def test_the_log_does_not_have_a_value_that_a_custom_constraint_repeats(monkeypatch, caplog):
    class Talkative:
        def validate(self, value, context):
            raise RuntimeError(f"I do not like {value}")

    monkeypatch.setitem(constraints.installed(), "talkative", Talkative)
    said = constraints.CustomConstraint("talkative").problem("Se5ame!open")
    assert said is not None
    assert "I do not like Se5ame!open" in said
    assert "I do not like ******" in caplog.text
    assert "Se5ame" not in caplog.text


class KnownFlavor(constraints.BaseCustomConstraint):
    resource_client_name = "nova"
    resource_getter_name = "find_flavor"


class Flavors:
    clients = property(lambda self: self)

    def client_plugin(self, name):
        assert name == "nova"
        return self

    def find_flavor(self, name):
        if name != "small":
            raise exception.EntityNotFound(entity="Flavor", name=name)


def test_a_custom_constraint_may_ask_a_service():
    assert KnownFlavor().validate("small", Flavors())
    check = KnownFlavor()
    assert not check.validate("huge", Flavors())
    assert check.error("huge") == "The Flavor (huge) could not be found."
    assert check.validate("huge", None)


def test_a_schema_shows_itself():
    schema = Schema(
        Schema.LIST,
        "Some.",
        schema=Schema(Schema.STRING, required=True, constraints=[constraints.Length(max=3)]),
        update_allowed=True,
    )
    assert schema.to_dict() == {
        "type": "list",
        "description": "Some.",
        "required": False,
        "update_allowed": True,
        "immutable": False,
        "schema": {
            "*": {
                "type": "string",
                "required": True,
                "update_allowed": False,
                "immutable": False,
                "constraints": [{"length": {"max": 3}}],
            }
        },
    }
