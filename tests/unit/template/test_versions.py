# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from heatconv.template import functions_of, versions

FIRST = {"get_param", "get_resource", "get_attr", "get_file", "list_join", "str_replace", "resource_facade"}
CLOUDFORMATION = {
    "Ref",
    "Fn::GetAZs",
    "Fn::Select",
    "Fn::Join",
    "Fn::Split",
    "Fn::Replace",
    "Fn::Base64",
    "Fn::MemberListToMap",
    "Fn::ResourceFacade",
}


def names(version, **options):
    return {name for name, _line in functions_of(version, **options)}


def test_every_version_is_there_with_its_alias():
    assert versions() == [
        ("2013-05-23", []),
        ("2014-10-16", []),
        ("2015-04-30", []),
        ("2015-10-15", []),
        ("2016-04-08", []),
        ("2016-10-14", ["newton"]),
        ("2017-02-24", ["ocata"]),
        ("2017-09-01", ["pike"]),
        ("2018-03-02", ["queens"]),
        ("2018-08-31", ["rocky"]),
        ("2021-04-16", ["wallaby"]),
    ]


@pytest.mark.parametrize(
    ("version", "added", "removed"),
    [
        ("2013-05-23", FIRST | CLOUDFORMATION, set()),
        ("2014-10-16", set(), CLOUDFORMATION - {"Fn::Select"}),
        ("2015-04-30", {"repeat", "digest"}, set()),
        ("2015-10-15", {"str_split"}, {"Fn::Select"}),
        ("2016-04-08", {"map_merge"}, set()),
        ("2016-10-14", {"yaql", "map_replace", "if"}, set()),
        ("2017-02-24", {"filter", "str_replace_strict"}, set()),
        (
            "2017-09-01",
            {"make_url", "list_concat", "list_concat_unique", "str_replace_vstrict", "contains"},
            set(),
        ),
        ("2018-03-02", set(), set()),
        ("2018-08-31", set(), set()),
        ("2021-04-16", set(), set()),
    ],
)
def test_each_version_has_just_its_own_functions(version, added, removed):
    known = [name for name, _aliases in versions()]
    place = known.index(version)
    before = names(known[place - 1]) if place else set()
    assert names(version) == (before | added) - removed
    assert added.isdisjoint(before)
    assert removed <= before


def test_conditions_are_listed_on_demand():
    conditions = {"equals", "not", "and", "or"}
    assert names("rocky", with_conditions=True) == names("rocky") | conditions
    assert names("2016-04-08", with_conditions=True) == names("2016-04-08")
    assert conditions.isdisjoint(names("rocky"))  # asking for them changes nothing for others


def test_every_function_has_a_line_about_it():
    for version, _aliases in versions():
        for name, line in functions_of(version, with_conditions=True):
            assert line.endswith("."), name
            assert "\n" not in line, name


def test_an_unknown_version_has_no_functions():
    with pytest.raises(KeyError):
        functions_of("2012-01-01")
