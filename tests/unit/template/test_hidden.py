# SPDX-License-Identifier: Apache-2.0
"""What comes of hidden parameters is known as such, and no mistake repeats it."""

from __future__ import annotations

import hashlib

import pytest

from heatconv.errors import Invalid
from heatconv.model.secrets import masked_text

SECRET = "correct horse battery staple"
CARD = {"number": "4111 1111 1111 1111", "year": 2031}


def template(value, *, hidden=True, **sections):
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {
            "password": {"type": "string", "hidden": hidden},
            "name": {"type": "string", "default": "plain and visible"},
        },
        "resources": {
            "r": {"type": "OS::Heat::Value", "properties": {"value": value}},
            "other": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "name"}}},
        },
        **sections,
    }


def secrets_of(frozen, value, **options):
    result = frozen(template(value, **options), {"password": SECRET})
    assert result.definitions["other"].secrets == ()
    return result.definitions["r"].secrets


PASSWORD = {"get_param": "password"}
AS_IT_IS = [
    PASSWORD,
    {"str_replace": {"template": "user:%p@host", "params": {"%p": PASSWORD}}},
    {"list_join": ["", ["user:", PASSWORD]]},
    {"a": [{"b": PASSWORD}, {"get_param": "name"}]},
    {"str_replace": {"template": "%o%p", "params": {"%p": PASSWORD, "%o": {"get_attr": ["other", "value"]}}}},
    {"if": [{"equals": [{"get_param": "name"}, "plain and visible"]}, PASSWORD, "none"]},
]


@pytest.mark.parametrize("value", AS_IT_IS)
def test_a_definition_knows_the_hidden_values_in_it(frozen, value):
    assert secrets_of(frozen, value) == (SECRET,)


def test_what_a_function_makes_of_a_hidden_value_is_secret_too(frozen):
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    assert secrets_of(frozen, {"digest": ["sha256", PASSWORD]}) == tuple(sorted((digest, SECRET)))
    parts = secrets_of(frozen, {"str_split": [" ", PASSWORD]})
    assert set(SECRET.split()) <= {*parts}


def test_what_is_made_of_a_hidden_value_is_secret_though_a_piece_of_it_is_the_same(frozen):
    """Capitals leave digits as they are: to hide those would show the rest."""
    secret = "only letters, then 0123456789/+"

    result = frozen(
        template({"yaql": {"expression": "$.data.toUpper()", "data": PASSWORD}}), {"password": secret}
    )

    [capitals] = result.definitions["r"].properties.values()
    assert set(result.definitions["r"].secrets) == {secret, secret.upper()}
    assert masked_text(capitals, result.definitions["r"].secrets) == "******"


def test_what_a_hidden_value_decides_on_is_not_secret(frozen):
    value = {"if": [{"equals": [PASSWORD, "x"]}, "this one", "that one"]}
    assert secrets_of(frozen, value) == (SECRET,)


def test_what_is_not_hidden_is_not_secret(frozen):
    assert secrets_of(frozen, PASSWORD, hidden=False) == ()


def test_of_a_hidden_map_what_is_used_is_secret(frozen):
    posted = template({"get_param": ["card", "number"]})
    posted["parameters"] = {
        "card": {"type": "json", "hidden": True, "default": CARD},
        "name": posted["parameters"]["name"],
    }

    result = frozen(posted)

    assert result.definitions["r"].secrets == (CARD["number"],)
    assert {CARD["number"], "2031"} <= result.secrets


def test_an_environment_can_hide_what_a_template_does_not(frozen):
    environment = {"encrypted_param_names": ["password"], "parameters": {"password": SECRET}}

    result = frozen(template(PASSWORD, hidden=False), environment=environment)

    assert result.definitions["r"].secrets == (SECRET,)
    assert result.parameters["password"].shown == "******"


def test_a_definition_with_a_secret_is_the_same_as_one_without(frozen):
    """What is hidden says nothing about a resource: hiding a parameter changes none."""
    hidden, shown = (
        frozen(template(PASSWORD, hidden=hidden), {"password": SECRET}).definitions["r"]
        for hidden in (True, False)
    )
    assert hidden == shown
    assert hidden.sha1 == shown.sha1


MISTAKES = [
    {"get_attr": ["other", "value", {"digest": ["sha1", {"k": PASSWORD}]}]},
    {"list_join": [",", PASSWORD]},
    {"str_split": [",", "a", PASSWORD]},
    {"repeat": {"template": "x", "for_each": {"x": PASSWORD}}},
    {"map_merge": [PASSWORD]},
    {"yaql": {"expression": "$.data.nothing.fails(", "data": {"nothing": PASSWORD}}},
    {"digest": [PASSWORD, "x"]},
    {"make_url": {"scheme": "http", "host": "h", "port": PASSWORD}},
    {"get_file": PASSWORD},
    {"get_resource": PASSWORD},
    {"get_param": PASSWORD},
]


@pytest.mark.parametrize("value", MISTAKES, ids=lambda value: next(iter(value)))
def test_no_mistake_repeats_a_hidden_value(frozen, value):
    with pytest.raises(Invalid) as caught:
        frozen(template(value), {"password": SECRET})

    assert "horse" not in str(caught.value)


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "number"},
        {"type": "boolean"},
        {"type": "json"},
        {"type": "string", "constraints": [{"allowed_pattern": "[a-z]+"}]},
        {"type": "string", "constraints": [{"length": {"max": 3}}]},
        {"type": "string", "constraints": [{"allowed_values": ["a", "b"]}]},
    ],
)
def test_no_objection_to_a_hidden_value_repeats_it(frozen, declared):
    posted = template("x")
    posted["parameters"]["password"] = {**declared, "hidden": True}

    with pytest.raises(Invalid) as caught:
        frozen(posted, {"password": SECRET})

    assert [path for path, _ in caught.value.problems] == ["parameters.password"]
    assert "horse" not in str(caught.value)
    assert str(len(SECRET)) not in str(caught.value)
