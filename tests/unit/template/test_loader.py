# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from heatconv.errors import Invalid
from heatconv.template import load_template, load_yaml


def load(text: str, limit: int = 524_288):
    return load_yaml(text, "The template", limit=limit)


def refusal(text: str, limit: int = 524_288) -> str:
    with pytest.raises(Invalid) as caught:
        load(text, limit)
    return str(caught.value)


def test_dates_stay_texts_and_keys_become_texts():
    text = "d: 2013-05-23\n80: a\nyes: b\n~: c\n1.5: d\n"
    assert load(text) == {"d": "2013-05-23", "80": "a", "true": "b", "null": "c", "1.5": "d"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 8),
        ("0x1F", 31),
        ("0b11", 3),
        ("-1_000", -1000),
        ("1:30", 90),
        ("-1:30", -90),
        ("0", 0),
        ("1.5", 1.5),
        ("1:30.5", 90.5),
        ("off", False),
        ("~", None),
        ("''", ""),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("=", "="),
        ("", None),
        ("[1, {a: b}]", [1, {"a": "b"}]),
        ('{"a": [true, null]}', {"a": [True, None]}),
    ],
)
def test_a_scalar_has_the_value_that_yaml_gives_it(text, value):
    assert load(text) == value


def test_merge_keys_are_overridden_by_the_keys_beside_them():
    text = "m: &m {a: 1, b: 2}\nn: &n {b: 3, c: 3}\nx: {b: 9, <<: *m}\ny: {<<: [*m, *n]}\n"
    loaded = load(text)
    assert loaded["x"] == {"a": 1, "b": 9}
    assert loaded["y"] == {"a": 1, "b": 2, "c": 3}


def test_an_alias_can_stand_for_a_key():
    assert load("a: &k name\n*k : 1") == {"a": "name", "name": 1}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2", "the key 'c' is there twice (line 4, column 3)"),
        ('{"a": 1,\n "a": 2}', "the key 'a' is there twice (line 2, column 2)"),
        ("1: a\n'1': b", "the key '1' is there twice"),
        ("a: &a b\nb: 1\n*a : 2", "the key 'b' is there twice"),
        ("x: {<<: {a: 1}, <<: {b: 1}}", "the key '<<' is there twice"),
        ("a: &a [*a]", "the alias '*a' contains itself"),
        ("a: *b", "the alias '*b' has no anchor"),
        ("&x [1]: 2", "the key of a map has to be a text"),
        ("? {a: b}\n: c", "the key of a map has to be a text"),
        ("a: &a [1]\n*a : 2", "the key of a map has to be a text"),
        ("<<: [1]", "merges a map or a list of maps"),
        ("a: .nan", "not a value that JSON can hold"),
        ("a: -.inf", "not a value that JSON can hold"),
        ("a: 1" + ":59" * 200, "not a value that JSON can hold"),
        ("a: 1" + ":59" * 200 + ".5", "not a value that JSON can hold"),
        ("a: !!int x", "not a value that JSON can hold"),
        ("a: !!bool maybe", "not a value that JSON can hold"),
        ("a: !!binary aGk=", "the tag 'tag:yaml.org,2002:binary' is not supported"),
        ("a: !!python/name:os.system {}", "is not supported"),
        ("a: [1", "did not find expected ',' or ']' (line 2, column 1)"),
        ("a:\n\t- b", "cannot start any token"),
        ("a: \x01", "control characters are not allowed"),
        ("a: \ud800", "not valid Unicode"),
        ('{"a": "\\ud800"}', "not valid Unicode"),
        ("a: 1\n---\nb: 2", "more than one document (line 2, column 1)"),
    ],
)
def test_what_is_refused_is_told_with_its_place(text, sentence):
    assert sentence in refusal(text)
    assert refusal(text).startswith("The template ")


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 90_000, "- " * 100_000, "[" * 102 + "]" * 102])
def test_deep_nesting_is_refused_before_anything_recurses(text):
    assert "nested more than 64 levels deep" in refusal(text)


def test_an_alias_bomb_is_refused_before_it_expands():
    levels = "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]\n" for i in range(1, 30))
    assert "once aliases are expanded" in refusal(f"l0: &l0 [x]\n{levels}")


def test_a_long_text_is_not_multiplied_by_aliases():
    assert "once aliases are expanded" in refusal(f"a: &a {'x' * 100_000}\nb: [{'*a, ' * 1000}]")
    assert "once aliases are expanded" in refusal(f"a: &a {{{'x' * 1000}: 1}}\nb: [{'*a, ' * 20_000}]")


def test_an_alias_that_nests_too_deep_is_refused():
    levels = "".join(f"l{i}: &l{i} [*l{i - 1}]\n" for i in range(1, 120))
    assert "nested more than 64 levels deep" in refusal(f"l0: &l0 [x]\n{levels}")


def test_many_values_are_refused_in_json_too():
    text = json.dumps([[0] * 100_000, [0] * 100_000])
    assert "more than 200000 values" in refusal(text, limit=700_000)
    assert load(text, limit=10**6) == [[0] * 100_000, [0] * 100_000]


def test_a_text_over_the_limit_is_refused():
    assert refusal("ä" * 6, limit=11) == "The template has 12 bytes; at most 11 are allowed."
    assert load("ä" * 6, limit=12) == "ää" * 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_json_is_loaded_as_json(value):
    assert load(json.dumps([value])) == [value]


@given(JSON)
def test_yaml_is_loaded_as_yaml(value):
    assert load(yaml.safe_dump(value)) == value


@given(st.text(alphabet="ab:-[]{},&*<!?'\"| \n#0.1~>", max_size=40))
def test_whatever_the_text_it_is_loaded_or_invalid(text):
    try:
        value = load(text)
    except Invalid:
        return
    assert json.loads(json.dumps(value, allow_nan=False)) == value


# -- templates ---------------------------------------------------------------------------------


def problems(template) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        load_template(template)
    return dict(caught.value.problems)


@pytest.mark.parametrize("version", ["2013-05-23", "2021-04-16", "wallaby", "newton"])
def test_a_version_is_known_by_date_and_alias(version):
    template = {"heat_template_version": version}
    assert load_template(f"heat_template_version: {version}") == template
    assert load_template(template) == template


def test_an_unknown_version_is_told_the_known_ones():
    sentence = problems("heat_template_version: 2012-01-01")["heat_template_version"]
    assert sentence.startswith("The template version is invalid: '2012-01-01' is not a known version")
    assert "2013-05-23" in sentence
    assert "2018-08-31 (rocky)" in sentence


def test_a_version_is_needed():
    assert "no 'heat_template_version'" in problems("resources: {}")[""]
    assert "not a number" in problems("1")[""]
    assert "is not a known version" in problems({"heat_template_version": 2})["heat_template_version"]


def test_a_template_has_one_version_only():
    found = problems({"heat_template_version": "rocky", "HeatTemplateFormatVersion": "2012-12-12"})
    assert list(found) == ["HeatTemplateFormatVersion"]
    assert "leave out 'heat_template_version' or" in found["HeatTemplateFormatVersion"]


def test_each_language_has_its_own_versions_and_sections():
    assert load_template("AWSTemplateFormatVersion: 2010-09-09\nConditions: {}\nMappings:") == {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Conditions": {},
        "Mappings": None,
    }
    assert problems("AWSTemplateFormatVersion: 2018-08-31") == {
        "AWSTemplateFormatVersion": "The template version is invalid: '2018-08-31' is not a known version; "
        "the known version is 2010-09-09."
    }
    found = problems(
        {"HeatTemplateFormatVersion": "2012-12-12", "Conditions": {}, "resources": {}, "Outputs": 1}
    )
    assert "no section 'Conditions'" in found["Conditions"]
    assert "there are HeatTemplateFormatVersion, Description, Mappings" in found["resources"]
    assert found["Outputs"] == "It has to be a map, not a number."


def test_every_wrong_section_is_reported():
    template: dict = {
        "heat_template_version": "2015-10-15",
        "conditions": {},
        "resources": [],
        "outputs": None,
    }
    found = problems(template | {"description": 1})
    assert "no section 'conditions' in this version" in found["conditions"]
    assert found["resources"] == "It has to be a map, not a list."
    assert found["description"] == "It has to be a text, not a number."
    assert "outputs" not in found


def test_a_template_as_data_has_the_same_bounds():
    deep: list = []
    for _ in range(120):
        deep = [deep]
    template = {"heat_template_version": "rocky", "resources": {"a": deep}}
    assert "nested more than 64 levels" in problems(template)[""]
    assert "at most 524288" in problems({"heat_template_version": "rocky", "description": "x" * 600_000})[""]
    assert "keys of every map" in problems({"heat_template_version": "rocky", "resources": {1: {}}})[""]
    assert "plain JSON" in problems({"heat_template_version": "rocky", "resources": {"a": {1}}})[""]
