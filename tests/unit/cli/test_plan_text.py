# SPDX-License-Identifier: Apache-2.0
"""Each thing that a plan says can be read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from heatconv.cli import plan_text
from heatconv.cli.plan_facts import facts, lasting, plain
from heatconv.cli.plan_outline import Outline
from tests.unit.cli.made_up_plans import ID, NOW, change, plan, resource

THEN = datetime(2026, 1, 31, 12, 3, tzinfo=UTC)  #: three minutes after ``NOW``


def said(**more):
    return [fact.text for fact in facts(resource("server", **more), THEN)]


def lines(*resources, **head):
    outline = Outline(THEN)
    for each in resources:
        outline.add(each)
    return [line.plain for line in plan_text.lines(plan(*resources, **head), outline)]


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (change("size", 10, 20), "size: 10 -> 20"),
        (change("size", None, 10), "size: nothing -> 10"),
        (change("size", 10, None), "size: 10 -> nothing"),
        (change("size", 10, 10), "size: 10, the same"),
        (
            change("address", "10.0.0.1", None, unknown=True, equal=None),
            'address: "10.0.0.1" -> (known later)',
        ),
        (
            change("uses", ["a"], ["b", None], unknown=True, equal=None),
            'uses: ["a"] -> ["b", null] (what is null is known later)',
        ),
        (
            change("password", "(hidden)", "(hidden)", hidden=True, equal=False),
            "password: (hidden), another",
        ),
        (
            change("password", "(hidden)", "(hidden)", hidden=True, equal=True),
            "password: (hidden), the same",
        ),
        (
            change("password", "(hidden)", "(hidden)", hidden=True, equal=None),
            "password: (hidden), another or the same",
        ),
        (change("tags", {"a": [1, "ä"]}, {}), 'tags: {"a": [1, "ä"]} -> {}'),
    ],
)
def test_a_change_is_a_line(changed, line):
    assert said(changes=[changed]) == [line]


def test_of_what_is_new_there_is_nothing_before():
    changes = [
        change("size", None, 10),
        change("password", None, "(hidden)", hidden=True),
        change("address", None, None, unknown=True),
    ]
    assert said(action="create", changes=changes) == [
        "size: 10",
        "password: (hidden)",
        "address: (known later)",
    ]


def test_what_a_replacement_is_for_is_marked():
    changes = [change("flavor", "small", "large", replaces=True), change("name", "a", "b")]
    assert said(action="replace", changes=changes) == [
        'flavor: "small" -> "large" (replaces)',
        'name: "a" -> "b"',
    ]


def test_metadata_is_not_taken_for_a_property():
    assert said(changes=[change("x", 1, 2) | {"path": "metadata.x"}]) == ["metadata.x: 1 -> 2"]


@pytest.mark.parametrize(
    ("before", "line"),
    [
        (
            {"desired": 10, "made": 10, "observed": 15, "observed_at": NOW},
            "size: 10 made, 15 observed 3 min ago -> 20",
        ),
        (
            {"desired": 12, "made": 10, "observed": 15, "observed_at": NOW},
            "size: 12 wanted, 10 made, 15 observed 3 min ago -> 20",
        ),
        (
            {"desired": 12, "made": 10, "observed": None, "observed_at": None},
            "size: 12 wanted, 10 made -> 20",
        ),
        ({"desired": None, "made": 10, "observed": None, "observed_at": None}, "size: 10 -> 20"),
        ({"desired": 10, "made": 10, "observed": 10, "observed_at": NOW}, "size: 10 -> 20"),
        (
            {"desired": 10, "made": 10, "observed": None, "observed_at": NOW},
            "size: 10 made, nothing observed 3 min ago -> 20",
        ),
    ],
)
def test_drift_is_shown_three_ways_as_far_as_they_differ(before, line):
    assert said(changes=[change("size", None, 20) | {"before": before}]) == [line]


def test_the_reasons_follow():
    assert said(
        replaced_because=["flavor cannot be updated"],
        because=[
            {"sentence": "properties.image is wanted otherwise", "via": []},
            {"sentence": "properties.networks follows port", "via": [["port"]]},
        ],
        hangs_on=[
            {
                "path": ["port"],
                "attribute": "addresses",
                "sentence": "the address of port, known after it is replaced",
            }
        ],
        left_behind="the volume stays (deletion policy Retain)",
        problem="there is no such flavor",
    ) == [
        "will fail: there is no such flavor",
        "replaced since flavor cannot be updated",
        "because properties.image is wanted otherwise",
        "because properties.networks follows port",
        "hangs on the address of port, known after it is replaced",
        "left behind: the volume stays (deletion policy Retain)",
    ]


def test_what_is_in_the_same_stack_is_called_by_its_name():
    hangs_on = [
        {"path": ["inner", "0", "port"], "attribute": "address", "sentence": "the address of inner/0/port"},
        {"path": ["outer"], "attribute": None, "sentence": "the reference id of outer"},
    ]
    found = facts(resource("inner.0.server", hangs_on=hangs_on), THEN)
    assert [fact.text for fact in found] == [
        "hangs on the address of port",
        "hangs on the reference id of outer",
    ]


@pytest.mark.parametrize(
    ("via", "way"),
    [
        ([], ""),
        ([["net"]], ""),
        ([["inner", "port"], ["inner"]], ""),
        ([["inner", "port"], ["inner"], ["router"], ["net"]], " (by way of net > router > port)"),
        (
            [[f"step{at}"] for at in reversed(range(1000))],
            " (by way of step0 > step1 > step2 > step3 > step4 > ... > step999)",
        ),
    ],
)
def test_the_way_of_a_change_is_said_where_it_is_a_long_one(via, way):
    found = facts(resource("inner.server", because=[{"sentence": "it follows port", "via": via}]), THEN)
    assert [fact.text for fact in found] == [f"because it follows port{way}"]


def test_long_texts_are_shown_where_they_differ():
    before, after = (
        "#!/bin/sh\n" + "echo hello\n" * 50 + tail + "\n" + "exit\n" * 50 for tail in ("one", "two")
    )
    (line,) = said(changes=[change("user_data", before, after)])
    assert "one\\n" in line
    assert "two\\n" in line
    assert len(line) < 200


def test_what_is_many_is_counted():
    changes = [change(f"p{at}", 1, 2) for at in range(1000)]
    assert said(changes=changes)[19:] == ["p19: 1 -> 2", "and 980 properties more"]


def test_nothing_that_a_user_wrote_does_anything_to_a_terminal():
    evil = "\x1b[2J\x9b31m\N{RIGHT-TO-LEFT OVERRIDE}\n"
    shown = lines(
        resource(
            evil.replace(".", ""),
            type=evil,
            changes=[change(evil, evil, [evil])],
            because=[{"sentence": evil, "via": []}],
        ),
        guards=[{"rule": evil, "sentence": evil, "resources": [[evil]]}],
        stack={"id": None, "name": evil},
    )
    assert all(line.isprintable() for line in shown)
    assert "\\u001b[2J\\u009b31m\\u202e\\n" in shown[0]


def test_each_action_has_a_sign_that_does_without_colour():
    signs = {action: sign for action, (sign, _) in plan_text.SIGNS.items()}
    assert signs == {
        "create": "+", "update": "~", "replace": "-/+", "delete": "-", "retain": "=",
        "heal": "!", "adopt": ">", "check": "*",
    }  # fmt: skip
    assert lines(resource("a", "replace", possible=True))[3].startswith("-/+ ? a  ")


@pytest.mark.parametrize(
    ("resources", "head", "line"),
    [
        (
            [
                *(resource(f"new{at}", "create") for at in range(3)),
                resource("database", "replace", possible=True),
                *(resource(f"changed{at}") for at in range(2)),
            ],
            {"untouched": 9994, "seconds": 40.2},
            "3 to create, 1 to replace (possible), 2 to update, 0 to delete; 9,994 untouched; about 40 s",
        ),
        (
            [resource("a", "replace"), resource("b", "replace", possible=True), resource("c", "heal")],
            {},
            "0 to create, 2 to replace (1 possible), 0 to update, 0 to delete, 1 to heal; 0 untouched",
        ),
        ([], {"untouched": 7}, "0 to create, 0 to replace, 0 to update, 0 to delete; 7 untouched"),
    ],
)
def test_it_is_summed_up_in_one_line(resources, head, line):
    assert lines(*resources, **head)[-1] == line


def test_the_head_says_what_can_be_done_with_it():
    assert lines()[:2] == [
        f"update web  plan {ID}",
        f"It can be applied until 2026-02-01T12:00:00Z: heatconv stack apply {ID}",
    ]
    assert lines(state="applied")[1] == "It has been applied."
    assert lines(state="refused", refusal="B changed. Make a new one.")[1] == (
        "It cannot be applied: B changed. Make a new one."
    )
    under_way = {"action": "UPDATE", "since": NOW}
    assert lines(under_way=under_way)[2] == f"UPDATE is under way since {NOW}; the plan is on top of that."
    assert lines(history=1200)[-2] == "The time goes by 1,200 past actions."


def test_a_rule_that_is_broken_is_said():
    guard = {
        "rule": "keep_data",
        "sentence": "it forbids to replace database",
        "resources": [["database"]],
    }
    shown = lines(guards=[guard])
    assert shown[1] == "It cannot be applied: it breaks a rule."
    assert shown[-2] == "Breaks the rule keep_data: it forbids to replace database"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59, "59 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (200_000, "2 d")],
)
def test_a_time_is_said_as_one_says_it(seconds, text):
    assert lasting(seconds) == text


def test_plain_text_stays_what_it_is():
    assert plain("Größe: 10 GiB") == "Größe: 10 GiB"
