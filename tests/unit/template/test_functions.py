# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.template.functions.lists import list_concat_unique, repeat
from heatconv.template.functions.text import list_join, str_replace, str_split


def replaced(template, params, name="str_replace"):
    return {name: {"template": template, "params": params}}


def repeated(template, for_each, **more):
    return {"repeat": {"template": template, "for_each": for_each} | more}


VALUES: dict[str, Any] = {
    "join": ({"list_join": ["-", ["a", "b"]]}, "a-b"),
    "join many": ({"list_join": [", ", ["a"], None, ["b", "c"]]}, "a, b, c"),
    "join what is no text": ({"list_join": [",", [1, None, True, {"a": 1}, [2]]]}, '1,,True,{"a": 1},[2]'),
    "join nothing": ({"list_join": [",", []]}, ""),
    "split": ({"str_split": [",", "a,b,c"]}, ["a", "b", "c"]),
    "split and take": ({"str_split": [",", "a,b,c", 1]}, "b"),
    "split and take by text": ({"str_split": [",", "a,b,c", "2"]}, "c"),
    "replace": (replaced("a $x $y", {"$x": 1, "$y": "b"}), "a 1 b"),
    "replace the longest first": (replaced("$ab$a", {"$a": "1", "$ab": "2"}), "21"),
    "replace the longest first, overlapping": (replaced("abcd", {"ab": "X", "bcd": "Y"}), "aY"),
    "do not replace replacements": (replaced("x y", {"x": "y", "y": "x"}), "y x"),
    "replace by nothing": (replaced("[x]", {"x": None}), "[]"),
    "replace by JSON": (replaced("x y", {"x": {"a": [1]}, "y": [None]}), '{"a": [1]} [null]'),
    "replace by a boolean": (replaced("x", {"x": True}), "True"),
    "replace private characters": (replaced("\U000f0000x", {"x": "1", "\U000f0000": "2"}), "21"),
    "replace without params": (replaced("x", None), "x"),
    "replace what is not there": (replaced("x", {"y": 1}), "x"),
    "replace strictly": (replaced("x", {"x": None}, "str_replace_strict"), ""),
    "replace very strictly": (replaced("x", {"x": 0}, "str_replace_vstrict"), "0"),
    "repeat": (repeated("a-%x%", {"%x%": ["1", 2]}), ["a-1", "a-2"]),
    "repeat whole values": (repeated({"%x%": "%x%"}, {"%x%": [1, "b"]}), [{"1": 1}, {"b": "b"}]),
    "repeat maps in texts": (repeated("<%x%>", {"%x%": [{"a": 1}]}), ['<{"a": 1}>']),
    "repeat all combinations": (repeated(["x", "y"], {"x": [1, 2], "y": [3]}), [[1, 3], [2, 3]]),
    "repeat in step": (
        repeated(["x", "y"], {"x": [1, 2], "y": [3, 4]}, permutations=False),
        [[1, 3], [2, 4]],
    ),
    "repeat keys of a map": (repeated("x", {"x": {"a": 1, "b": 2}}), ["a", "b"]),
    "repeat for nothing": (repeated("x", {"x": None}), []),
    "repeat what is no text": (repeated([None, 1], {"x": [0]}), [[None, 1]]),
    "digest": ({"digest": ["sha512", "é"]}, hashlib.sha512("é".encode("latin-1")).hexdigest()),
    "merge": ({"map_merge": [{"a": 1, "b": 1}, None, {"b": 2}]}, {"a": 1, "b": 2}),
    "merge nothing": ({"map_merge": []}, {}),
    "rename": ({"map_replace": [{"a": "x", "b": 1}, {"keys": {"a": "c"}}]}, {"c": "x", "b": 1}),
    "swap": ({"map_replace": [{"a": 1, "b": 2}, {"keys": {"a": "b", "b": "a"}}]}, {"b": 1, "a": 2}),
    "exchange": (
        {"map_replace": [{"a": "x", "b": 1, "c": True}, {"values": {"x": 9, "1": "one", "true": 0}}]},
        {"a": 9, "b": "one", "c": 0},
    ),
    "replace nothing in a map": ({"map_replace": [None, {}]}, {}),
    "concat": ({"list_concat": [[1], None, [1, 2]]}, [1, 1, 2]),
    "concat unique": ({"list_concat_unique": [[2, {"a": 1}], [1, {"a": 1}, 2]]}, [2, {"a": 1}, 1]),
    "filter": ({"filter": [[1, {"a": 1}, None], [{"a": 1}, 2, None, 1, 2]]}, [2, 2]),
    "filter nothing": ({"filter": [[1], None]}, []),
    "contains": ({"contains": ["a", ["a", "b"]]}, True),
    "contains not": ({"contains": ["c", ["a", "b"]]}, False),
    "contains in a text": ({"contains": ["b", "abc"]}, True),
    "url": (
        {
            "make_url": {
                "scheme": "https",
                "username": "u@",
                "password": "p/",
                "host": "h",
                "port": "80",
                "path": "a b/c",
                "query": {"x": "1&2", "y": 3},
                "fragment": "f g",
            }
        },
        "https://u%40:p%2F@h:80/a%20b/c?x=1%262&y=3#f%20g",
    ),
    "url of an IPv6 host": ({"make_url": {"scheme": "http", "host": "::1", "path": "/"}}, "http://[::1]/"),
    "url of a bracketed host": ({"make_url": {"scheme": "http", "host": "[::1]"}}, "http://[::1]"),
    "url without a host": ({"make_url": {"path": "a", "port": "", "query": {}}}, "a"),
    "a function in the arguments of a function": ({"list_join": ["", {"str_split": [",", "a,b"]}]}, "ab"),
    "functions as arguments": ({"map_merge": [{"if": [True, {"a": 1}, None]}]}, {"a": 1}),
    "a map with two keys is no call": ({"str_split": [","], "x": 1}, {"str_split": [","], "x": 1}),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_function_has_its_value(value_of, case):
    call, value = VALUES[case]
    result = value_of(call)
    assert result == value
    assert type(result) is type(value)


MISTAKES: dict[str, Any] = {
    "join a text": ({"list_join": [",", "ab"]}, "list_join[1]", "It has to be a list, not a text ('ab')."),
    "join with a number": ({"list_join": [1, []]}, "list_join[0]", "It has to be a text, not a number"),
    "join without a list": (
        {"list_join": [","]},
        "list_join",
        "list_join takes a list of delimiter, texts, more....",
    ),
    "join by a map": ({"list_join": {}}, "list_join", "list_join takes a list of"),
    "split by nothing": ({"str_split": ["", "a"]}, "str_split[0]", "must not be empty"),
    "split null": ({"str_split": [",", None]}, "str_split[1]", "It has to be a text, not null"),
    "split and take too far": ({"str_split": [",", "a", 1]}, "str_split[2]", "from 0 to 0"),
    "split and take a name": ({"str_split": [",", "a", "x"]}, "str_split[2]", "has to be a number"),
    "split too much": ({"str_split": [1, 2, 3, 4]}, "str_split", "index (optional)"),
    "replace in a list": (replaced([], {}), "str_replace.template", "It has to be a text, not a list"),
    "replace with a list": (replaced("", []), "str_replace.params", "It has to be a map, not a list"),
    "replace with a wrong key": (
        {"str_replace": {"template": "", "param": {}}},
        "str_replace",
        "str_replace takes a map of template, params.",
    ),
    "replace with a list of arguments": ({"str_replace": ["", {}]}, "str_replace", "takes a map of"),
    "replace an empty key": (replaced("", {"": 1}), "str_replace.params", "must not be empty"),
    "replace strictly": (
        replaced("xx", {"x": 1, "y": 1, "z": 1}, "str_replace_strict"),
        "str_replace_strict.params",
        "The text does not have y, z.",
    ),
    "replace very strictly": (
        replaced("x", {"x": ""}, "str_replace_vstrict"),
        "str_replace_vstrict.params.x",
        "It must not be null or empty.",
    ),
    "replace by too much": (
        replaced("x" * 50_000, {"x": "y" * 1000}),
        "str_replace",
        "would produce more than 100000 items",
    ),
    "repeat nothing": (repeated("x", {}), "repeat.for_each", "at least one variable"),
    "repeat an unnamed": (repeated("x", {"": [1]}), "repeat.for_each", "no name may be empty"),
    "repeat a text": (repeated("x", {"x": "abc"}), "repeat.for_each.x", "It has to be a list"),
    "repeat in unequal steps": (
        repeated("x", {"x": [1], "y": []}, permutations=False),
        "repeat.for_each",
        "of the same length",
    ),
    "repeat with a wrong switch": (repeated("x", {"x": []}, permutations=1), "repeat.permutations", "true"),
    "repeat too often": (
        repeated("x", {name: list(range(100)) for name in "xyz"}),
        "repeat",
        "would produce more than 100000 items",
    ),
    "repeat big texts": (
        repeated("%x%" * 1000 + ".", {"%x%": ["y" * 10_000]}),
        "repeat",
        "would produce more than 100000 items",
    ),
    "repeat big values": (
        repeated(["x"] * 1000, {"x": [list(range(1000))]}),
        "repeat",
        "would produce more than 100000 items",
    ),
    "digest by an unknown algorithm": ({"digest": ["md", "x"]}, "digest[0]", "'md' is no algorithm here"),
    "digest by a list": ({"digest": [[], "x"]}, "digest[0]", "is no algorithm here"),
    "digest other characters": ({"digest": ["md5", "€"]}, "digest[1]", "outside of Latin-1"),
    "merge a list": ({"map_merge": [{}, [1]]}, "map_merge[1]", "It has to be a map, not a list"),
    "rename to what is there": (
        {"map_replace": [{"a": 1, "b": 2}, {"keys": {"a": "b"}}]},
        "map_replace[1].keys",
        "Renaming 'a' would give the key 'b' twice.",
    ),
    "rename to one": (
        {"map_replace": [{"a": 1, "b": 2}, {"keys": {"a": "c", "b": "c"}}]},
        "map_replace[1].keys",
        "the key 'c' twice",
    ),
    "replace other things": ({"map_replace": [{}, {"key": {}}]}, "map_replace[1]", "There is no 'key'"),
    "contains in a number": ({"contains": [1, 1]}, "contains[1]", "a list or a text, not a number"),
    "url with a bad port": ({"make_url": {"host": "h", "port": 70_000}}, "make_url.port", "1 to 65535"),
    "url with a worse port": ({"make_url": {"host": "h", "port": "x"}}, "make_url.port", "1 to 65535"),
    "url with a bad scheme": ({"make_url": {"scheme": "http://"}}, "make_url.scheme", "none of"),
    "url with a password only": ({"make_url": {"password": "x"}}, "make_url.password", "needs a username"),
    "url with a user only": ({"make_url": {"username": "x"}}, "make_url.username", "needs a host"),
    "url of a list": ({"make_url": {"host": []}}, "make_url.host", "It has to be a text, not a list."),
    "url with a text as query": ({"make_url": {"query": "x"}}, "make_url.query", "It has to be a map"),
    "inside of another function": (
        {"list_join": [",", [{"list_join": [1, []]}]]},
        "list_join[1][0].list_join[0]",
        "It has to be a text",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_with_its_place(problem_of, case):
    call, path, sentence = MISTAKES[case]
    found_path, found_sentence = problem_of(call)
    assert found_path == path
    assert sentence in found_sentence


def test_list_concat_and_join_are_bounded(problem_of):
    parameters = {"p": {"type": "json", "default": list(range(20_000))}}
    for name in ("list_concat", "list_concat_unique"):
        many = {name: [{"get_param": "p"}] * 6}
        assert "would produce more than 100000 items" in problem_of(many, parameters=parameters)[1]
    text = {"p": {"type": "string", "default": "x" * 100_000}}
    call: dict[str, Any] = {"list_join": ["", [{"get_param": "p"}] * 50]}
    assert "would produce more than 100000 items" in problem_of(call, parameters=text)[1]


def test_loops_cannot_nest_values_deeper_and_deeper(problem_of):
    value: Any = "x"
    template: Any = "%x%"
    for _ in range(12):
        template = [template]
    for _ in range(10):
        value = repeated(template, {"%x%": [value]})
    path, sentence = problem_of(value)
    assert path.endswith("repeat")
    assert "64 levels of nesting" in sentence


def test_what_all_functions_produce_together_is_bounded(problem_of):
    parameters = {"p": {"type": "json", "default": list(range(20_000))}}
    assert "in all; make it smaller" in problem_of([{"get_param": "p"}] * 200, parameters=parameters)[1]


# -- versions that differ --------------------------------------------------------------------------


def test_old_joins_and_replacements_take_no_maps(value_of, problem_of):
    old = "2015-04-30"
    assert value_of({"list_join": [",", ["a", 1, None]]}, version=old) == "a,1,"
    assert problem_of({"list_join": [",", [{"a": 1}]]}, version=old)[0] == "list_join[1][0]"
    assert problem_of({"list_join": [",", ["a"], ["b"]]}, version=old)[0] == "list_join"
    assert problem_of(replaced("x", {"x": {}}), version=old)[0] == "str_replace.params.x"


def test_repeat_learned_maps_and_steps(value_of, problem_of):
    assert problem_of(repeated("x", {"x": {"a": 1}}), version="2016-04-08")[0] == "repeat.for_each.x"
    assert value_of(repeated("x", {"x": {"a": 1}}), version="newton") == ["a"]
    assert problem_of(repeated("x", {"x": []}, permutations=False), version="ocata")[0] == "repeat"


def test_a_function_of_a_later_version_is_a_literal(value_of):
    assert value_of({"str_split": [",", "a"]}, version="2015-04-30") == {"str_split": [",", "a"]}


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ({"Fn::Select": [1, ["a", "b"]]}, "b"),
        ({"Fn::Select": ["k", {"k": "v"}]}, "v"),
        ({"Fn::Select": [5, ["a"]]}, ""),
        ({"Fn::Join": ["-", ["a", None, 1]]}, "a--1"),
        ({"Fn::Split": [",", "a,b"]}, ["a", "b"]),
        ({"Fn::Replace": [{"$a": 1, "$ab": 2}, "$a $ab"]}, "1 2"),
        ({"Fn::Base64": "x"}, "x"),
        ({"Fn::GetAZs": ""}, ["nova"]),
        (
            {"Fn::MemberListToMap": ["Name", "Value", [".member.0.Name=k", ".member.0.Value=v=1"]]},
            {"k": "v=1"},
        ),
        ({"Ref": "p"}, "x"),
        ({"Ref": "a"}, {"$fn": "get_resource", "args": "a"}),
        ({"Fn::ResourceFacade": "DeletionPolicy"}, "Retain"),
    ],
)
def test_the_first_version_has_functions_of_cloudformation(value_of, problem_of, call, value):
    parameters = {"p": {"type": "string", "default": "x"}}
    facade = {"deletion_policy": "Retain"}
    assert value_of(call, version="2013-05-23", parameters=parameters, facade=facade) == value
    (name,) = call
    for version in ("2015-10-15", "rocky"):
        path, sentence = problem_of(call, version=version, parameters=parameters, facade=facade)
        assert path == name
        assert "is not available in version" in sentence


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ({"Fn::Select": [1, "x"]}, "Fn::Select[1]"),
        ({"Fn::Split": ["", "x"]}, "Fn::Split[0]"),
        ({"Fn::Base64": []}, "Fn::Base64"),
        ({"Fn::Join": [",", [{}]]}, "Fn::Join[1][0]"),
        ({"Fn::MemberListToMap": ["Name", "Value", ["x=1"]]}, "Fn::MemberListToMap[2][0]"),
        ({"Fn::ResourceFacade": ["x"]}, "Fn::ResourceFacade"),
        ({"Ref": "nothing"}, "Ref"),
    ],
)
def test_mistakes_with_functions_of_cloudformation(problem_of, call, path):
    assert problem_of(call, version="2013-05-23")[0] == path


# -- properties -----------------------------------------------------------------------------------------


@given(st.lists(st.text(alphabet="ab"), min_size=1))
def test_split_undoes_join(texts):
    assert str_split([",", list_join([",", texts])]) == texts


@given(st.text(alphabet="abc"), st.dictionaries(st.text(alphabet="abc", min_size=1), st.text(alphabet="abc")))
def test_replace_takes_the_longest_key_first_everywhere(template, params):
    def expected(text: str, keys: list[str]) -> str:
        if not keys:
            return text
        return str(params[keys[0]]).join(expected(part, keys[1:]) for part in text.split(keys[0]))

    keys = sorted(sorted(params), key=len, reverse=True)
    assert str_replace({"template": template, "params": params}) == expected(template, keys)


@given(st.lists(st.lists(st.integers(0, 3) | st.just({"a": 1}))))
def test_concat_unique_keeps_the_first_of_each(lists):
    result = list_concat_unique(lists)
    flat = [item for items in lists for item in items]
    assert result == [item for index, item in enumerate(flat) if item not in flat[:index]]


@given(st.lists(st.integers(), max_size=4), st.lists(st.integers(), max_size=4))
def test_repeat_gives_every_combination(xs, ys):
    args = {"template": ["x", "y"], "for_each": {"x": xs, "y": ys}}
    assert repeat(args) == [[x, y] for x in xs for y in ys]
