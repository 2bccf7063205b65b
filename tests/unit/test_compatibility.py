# SPDX-License-Identifier: Apache-2.0
"""doc/source/reference/compatibility.rst says what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.compatibility import COMMAND, PAGE, Comparison, current, load, page
from tools.heatconv_surface import accepts
from tools.types_here import notes


@pytest.fixture(scope="module")
def now():
    return current()


def test_the_page_is_what_the_code_says(now):
    assert PAGE.read_text() == page(now), f"run `{COMMAND}` and commit what it writes"


def test_what_is_missing_has_a_reason_and_nothing_else_has_one(now):
    assert list(now.mistakes()) == []


SUBJECTS: dict[str, dict[str, list[str]]] = {"resource types": {}, "properties": {}, "attributes": {}}


def compared(reasons):
    heat = SUBJECTS | {"functions": {"old": ["1", "2"], "new": ["2"]}}
    ours = SUBJECTS | {"functions": {"old": ["1"], "own": ["2"]}}
    return Comparison(heat, ours, {"functions": reasons})


@pytest.mark.parametrize(
    ("reasons", "mistake"),
    [
        ({"old 2": "because"}, "functions: new is missing, and there is no reason why"),
        ({"new": "because"}, "functions: old 2 is missing, and there is no reason why"),
        (
            {"old 2": "because", "new": "because", "own": "because"},
            "functions: own is not missing, yet there is a reason why",
        ),
        ({"old*": "because", "new": "because"}, None),
    ],
)
def test_a_mistake_is_told_by_name(reasons, mistake):
    assert list(compared(reasons).mistakes()) == ([mistake] if mistake else [])


def test_a_reason_is_none_for_what_is_here_as_well():
    heat = SUBJECTS | {"functions": {"gone": [], "here": []}}
    ours = SUBJECTS | {"functions": {"here": []}}

    mistakes = list(Comparison(heat, ours, {"functions": {"*e*": "because"}}).mistakes())

    assert mistakes == ["functions: here is here, yet *e* gives a reason why not"]


def test_an_answer_names_what_is_missing():
    it = compared({"old 2": "came later", "new": "nobody asked"})

    assert it.answer("functions", "new") == "no: nobody asked"
    assert it.answer("functions", "old") == "no ``2``: came later"
    assert list(it.beyond("functions")) == [("own", [])]


def test_a_name_that_nobody_knows_is_not_accepted():
    template = {"heat_template_version": "2021-04-16", "resources": {"it": {"type": "OS::Heat::None"}}}

    assert accepts(template)
    assert not accepts(template, environment={"nonsense": {}})
    assert not accepts(template | {"nonsense": {}})


def test_heats_names_are_of_heat_27():
    assert "Heat 27." in (Path(PAGE).parent / "heat-27.yaml").read_text().partition("\n")[0]
    assert load()["breakpoints"]


def test_all_types_of_heat_are_here_or_have_a_reason(now):
    visible = load()["resource types"]
    assert len(visible) == 163
    assert [name for name in visible if now.missing("resource types", name)] == [
        "AWS::ElasticLoadBalancing::LoadBalancer"
    ]


def test_a_type_says_whose_it_is_and_what_is_done_for_it():
    assert notes("OS::Heat::Value") == ("ours", "", "", "", "")
    assert notes("OS::Heat::Stack") == ("ours, for a cloud", "name", "", "", "")
    assert notes("OS::Octavia::Pool") == ("Heat's", "", "", "", "")
    assert notes("OS::Cinder::Volume") == (
        "Heat's",
        "name",
        "``description``, ``metadata``, ``name``, ``size``",
        "yes",
        "A volume that is extended once",
    )
    assert notes("OS::Some::Thing") == ("", "", "", "", "")
