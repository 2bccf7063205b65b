# SPDX-License-Identifier: Apache-2.0
"""Values that a template inside a template writes out are held against their types at once."""

from __future__ import annotations

import json

import pytest

from heatconv.engine.nesting import Known
from heatconv.engine.written import Written
from heatconv.model.definition import Definition
from heatconv.resources.registry import Registry

BAD = {"type": "OS::Heat::RandomString", "properties": {"length": "BAD"}}
WRONG = "Value 'BAD' is not an integer (length)"


def hot(**resources):
    return json.dumps({"heat_template_version": "2021-04-16", "resources": resources})


def of(**properties):
    return hot(random={"type": "OS::Heat::RandomString", "properties": properties})


FILES = {
    "bad.yaml": of(length="BAD"),
    "outer.yaml": hot(inner={"type": "bad.yaml"}, group={"type": "OS::Heat::ResourceGroup"}),
    "endless.yaml": hot(again={"type": "endless.yaml"}, random=BAD),
    "good.yaml": of(length="17"),
    "given.yaml": of(length={"get_param": "length"}),
    "longer.yaml": of(character_classes=[{"class": "digits", "min": {"get_param": "n"}}]),
    "perhaps.yaml": hot(random={**BAD, "condition": "never"}),
    "renamed.yaml": hot(random={"type": "My::Random", "properties": {"length": "BAD"}}),
    "no.yaml": "[]",
}


def problems(*owners, mapped=None):
    written = Written(Known(registry=Registry.load([]), files=FILES, operator={}))
    environment = {"resource_registry": mapped or {}}
    return [problem for owner in owners for problem in written.problems(owner, environment)]


def owner(type_, **properties):
    return Definition(name="R", type=type_, properties=properties)


def group(type_, count=2):
    return owner("OS::Heat::ResourceGroup", count=count, resource_def={"type": type_})


@pytest.mark.parametrize(
    ("made", "mapped", "place"),
    [
        (owner("bad.yaml"), {}, "resources.R<bad.yaml>.resources.random"),
        (owner("outer.yaml"), {}, "resources.R<outer.yaml>.resources.inner<bad.yaml>.resources.random"),
        (owner("endless.yaml"), {}, "resources.R<endless.yaml>.resources.random"),
        (group("bad.yaml"), {}, "resources.R<nested_stack>.resources.0<bad.yaml>.resources.random"),
        (group("T"), {"T": "bad.yaml"}, "resources.R<nested_stack>.resources.0<bad.yaml>.resources.random"),
        (
            owner("renamed.yaml"),
            {"My::Random": "OS::Heat::RandomString"},
            "resources.R<renamed.yaml>.resources.random",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(made, mapped, place):
    assert problems(made, mapped=mapped) == [(f"{place}: ", WRONG)]


@pytest.mark.parametrize(
    "made",
    [
        group("bad.yaml", count=0),
        group("bad.yaml", count={"$fn": "get_attr", "args": ["other", "count"]}),
        owner("good.yaml"),
        owner("given.yaml"),
        owner("longer.yaml"),
        owner("perhaps.yaml"),
        owner("no.yaml"),
        owner("missing.yaml"),
        owner("OS::Heat::RandomString", length="BAD"),  # its own values are for others to check
    ],
)
def test_what_is_right_or_not_known_yet_is_no_mistake(made):
    assert problems(made) == []


def test_each_owner_of_a_bad_template_is_told():
    owners = [Definition(name=name, type="bad.yaml", properties={}) for name in ("A", "B")]

    assert [path.partition("<")[0] for path, _ in problems(*owners)] == ["resources.A", "resources.B"]


def test_a_good_template_is_looked_into_once(monkeypatch):
    types_in, asked = Known.types_in, []

    def _types_in(known, *arguments):
        asked.append(arguments)
        return types_in(known, *arguments)

    monkeypatch.setattr(Known, "types_in", _types_in)

    assert problems(*[owner("good.yaml")] * 1000) == []
    assert len(asked) == 1
