# SPDX-License-Identifier: Apache-2.0
"""What was frozen before saves work, and changes nothing about what comes of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.errors import Invalid
from heatconv.model import work
from heatconv.template import freeze, load_template, merge
from heatconv.template.evaluator import Cost
from tests.unit.template.conftest import PSEUDO

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "parameters": {
        "text": {"type": "string", "default": "a"},
        "secret": {"type": "string", "default": "open sesame open", "hidden": True},
        "on": {"type": "boolean", "default": True},
    },
    "conditions": {"is_on": {"get_param": "on"}},
    "resources": {
        "plain": {"type": "A::Type", "properties": {"value": 1}},
        "told": {"type": "A::Type", "properties": {"value": {"get_param": "text"}}},
        "hiding": {
            "type": "A::Type",
            "properties": {
                "value": {"str_replace": {"template": "x$", "params": {"$": {"get_param": "secret"}}}}
            },
        },
        "filed": {"type": "A::Type", "properties": {"value": {"get_file": "a.txt"}}},
        "asking": {"type": "A::Type", "properties": {"value": {"get_resource": "plain"}}},
        "after": {"type": "A::Type", "depends_on": ["plain", "maybe"]},
        "maybe": {"type": "A::Type", "condition": "is_on"},
        "mapped": {"type": "B::Type"},
    },
}
FILES = {"a.txt": "file"}
Edit = tuple[tuple[str, ...], Any]
GONE = object()

#: Where a template, an environment or the files are changed, and to what.
EDITS: list[Edit] = [
    (("template", "resources", "plain", "properties", "value"), True),
    (("template", "resources", "plain", "properties", "value"), 1.0),
    (("template", "resources", "plain", "properties", "value"), {"get_param": "text"}),
    (("template", "resources", "plain", "properties", "value"), {"get_param": "nothing"}),
    (("template", "resources", "plain"), GONE),
    (("template", "resources", "told"), GONE),
    (("template", "resources", "maybe"), GONE),
    (("template", "resources", "maybe", "condition"), False),
    (("template", "resources", "maybe", "condition"), {"not": "is_on"}),
    (("template", "resources", "maybe", "condition"), GONE),
    (("template", "resources", "plain", "condition"), "is_on"),
    (("template", "resources", "plain", "condition"), False),
    (("template", "resources", "new"), {"type": "A::Type", "depends_on": "maybe"}),
    (("template", "resources", "text"), {"type": "A::Type"}),
    (("template", "resources", "told", "type"), 7),
    (("template", "resources", "plain", "depends_on"), "asking"),
    (("template", "heat_template_version"), "2018-08-31"),
    (("template", "conditions", "is_on"), {"not": {"get_param": "on"}}),
    (("template", "parameters", "text", "default"), "b"),
    (("template", "parameters", "text"), GONE),
    (("template", "parameters", "text", "hidden"), True),
    (("template", "outputs"), {"all": {"value": {"get_attr": ["maybe", "x"]}}}),
    (("environment", "parameters"), {"text": "c"}),
    (("environment", "parameters"), {"on": False}),
    (("environment", "resource_registry"), {"B::Type": "A::Type"}),
    (("environment", "resource_registry"), {"resources": {"pl*": {"hooks": "pre-create"}}}),
    (("files", "a.txt"), "another"),
    (("files", "a.txt"), GONE),
]


def edited(source: dict[str, Any], edits: list[Edit]) -> dict[str, Any]:
    """Return a source with some changes, as far as there is what they change."""
    result = copy.deepcopy(source)
    for (*path, last), value in edits:
        place = result
        for key in path:
            place = place.get(key, {})
        if value is GONE:
            place.pop(last, None)
        else:
            place[last] = copy.deepcopy(value)
    return result


def outcome(source: dict[str, Any], before: Any = None) -> Any:
    """Freeze a source; return all that came of it, or what is wrong with it."""
    template = load_template(copy.deepcopy(source["template"]))
    environment = merge(source["environment"], [], {}, {}, template=template)
    try:
        return freeze(template, environment, source["files"], PSEUDO, before=before)
    except Invalid as error:
        return error.problems


SOURCE = {"template": TEMPLATE, "environment": {}, "files": FILES}


@given(st.lists(st.sampled_from(EDITS), max_size=4), st.lists(st.sampled_from(EDITS), max_size=4))
def test_what_was_frozen_before_makes_no_difference(first, second):
    old, new = edited(SOURCE, first), edited(SOURCE, second)
    before = outcome(old)
    known = None if isinstance(before, list) else before

    again, afresh = outcome(new, known), outcome(new)

    assert again == afresh
    if not isinstance(afresh, list):
        assert secrets_of(again) == secrets_of(afresh)  # which equality of definitions leaves out


def secrets_of(frozen: Any) -> dict[str, tuple[str, ...]]:
    return {name: definition.secrets for name, definition in frozen.definitions.items()}


@pytest.mark.parametrize("edit", [edit for edit in EDITS if edit[0][0] == "template"])
def test_every_edit_of_the_template_shows(edit):
    assert outcome(edited(SOURCE, [edit]), outcome(SOURCE)) != outcome(SOURCE)


def test_what_did_not_change_is_the_very_same():
    before = outcome(SOURCE)
    new = edited(SOURCE, [(("template", "resources", "plain", "properties", "value"), "other")])

    again = outcome(new, before)

    same = {name for name in again.definitions if again.definitions[name] is before.definitions[name]}
    assert same == again.definitions.keys() - {"plain"}


def test_what_is_not_made_anew_counts_against_the_bounds_all_the_same(monkeypatch):
    before = outcome(SOURCE)
    spent = sum(part.cost.weight for part in before.parts.made.values())
    assert spent > 0
    monkeypatch.setattr("heatconv.template.evaluator.MAX_TOTAL_WEIGHT", spent - 1)

    assert outcome(SOURCE, before) == outcome(SOURCE)
    assert "The functions of the template produce more than" in outcome(SOURCE, before)[0][1]


def test_the_work_of_what_is_not_made_anew_counts_too():
    snippet = {"type": "A::Type", "properties": {"value": {"yaql": {"expression": "1 + 1", "data": 0}}}}
    source = edited(SOURCE, [(("template", "resources"), {"asked": snippet})])
    before = outcome(source)

    (part,) = before.parts.made.values()
    assert part.cost.work > 0
    assert part.cost - part.cost == Cost(0, 0)
    with work.bounded_work():
        assert work.work_done() == 0


def test_what_there_is_no_work_left_for_is_refused_as_ever(monkeypatch):
    snippet = {"type": "A::Type", "properties": {"value": {"yaql": {"expression": "1 + 1", "data": 0}}}}
    source = edited(SOURCE, [(("template", "resources"), {"asked": snippet})])
    before = outcome(source)
    for module in ("model.work", "template.evaluator"):
        monkeypatch.setattr(f"heatconv.{module}.MAX_WORK", 0)

    assert outcome(source, before) == outcome(source)
    assert "too much work" in outcome(source, before)[0][1]
