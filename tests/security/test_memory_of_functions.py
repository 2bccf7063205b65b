# SPDX-License-Identifier: Apache-2.0
"""Functions of templates took memory first and were bounded afterwards, or not at all.

A YAQL list that has itself twice, sixty times over, is small; to compare it, to hash
it or to make a text of it takes for ever, with nobody else running, and all memory.
At run time, what the functions of a resource produce together was not bounded: a
worker that joined four megabytes two thousand times was gone.
"""

from __future__ import annotations

import pytest

from tests.security.attacked import attacked

ROOM = 1 << 30  #: bytes that a process may come to take
TWICE = "let(a => range(0, {0}).aggregate([$1, $1], 1), b => range(0, {0}).aggregate([$1, $1], 1)) -> "

QUERIES = {
    "hashed": TWICE.format(60) + "set($a).len()",
    "a key": TWICE.format(60) + "dict($a => 1).len()",
    "compared": TWICE.format(60) + "$a = $b",
    "looked for": TWICE.format(60) + "$a in [$b]",
    "grouped": TWICE.format(60) + "[$a].groupBy($).len()",
    "a text": TWICE.format(32) + "str($a).len()",
    "in an error": TWICE.format(32) + "$a.nobody()",
    "flattened": TWICE.format(60) + "$a.flatten().len()",
    "maps": TWICE.replace("[$1, $1]", "dict(x => $1, y => $1)").format(60) + "$a = $b",
    "replaced": '("a" * 9900).replace("a", "b" * 9900).len()',
    "replaced by a map": '("a" * 9900).replace(dict(a => "b" * 9900)).len()',
    "replaced nothing": '("a" * 9900).replace("", "b" * 9900).len()',
    "joined": '["b" * 9900].join("").len() + (["b" * 9900] * 190).join("a" * 9900).len()',
    "put together": 'let(x => "b" * 9900) -> concat(' + ", ".join(["$x"] * 3000) + ").len()",
    "lists of lists": "[[[[0] * 190] * 190] * 190] * 190",
    "a long list": "[0] * pow(10, 9)",
    "a long text": '"a" * pow(10, 9)',
    "a range": "range(pow(10, 9)).toList()",
    "nested": "range(0, 190).aggregate(range(0, 190).aggregate([$1], $1), 1)",
    "many texts": 'range(0, 190).select(range(0, 190).select("a" * 9900).len()).len()',
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with attacked(tmp_path_factory.mktemp("memory")) as running:
        yield running
        assert running.most_memory() < ROOM


def hot(resources, **sections):
    return {"heat_template_version": "2021-04-16", "resources": resources, **sections}


def value(of, type_="json"):
    return {"type": "OS::Heat::Value", "properties": {"value": of, "type": type_}}


def joined(*texts):
    return {"list_join": ["", list(texts)]}


LARGE = joined(*["x" * 36_000] * 10)  # times ten, twice
MORE = {"V": value(LARGE, "string"), "W": value(joined(*[{"get_attr": ["V", "value"]}] * 10), "string")}
TEXT = {"get_attr": ["W", "value"]}  # some megabytes, known at run time only


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_a_query_takes_no_memory_before_it_is_bounded(service, query):
    asked = {"yaql": {"expression": query, "data": {}}}

    answer = service.preview(hot({"V": value(asked)}))

    assert answer.status_code == 400, answer.text
    assert len(answer.text) < 10_000
    service.assert_well()


def test_what_functions_make_at_run_time_is_bounded_together(service):
    many = value([joined(TEXT, str(number)) for number in range(2000)])

    reason = failure_of(service, hot({**MORE, "M": many}))

    assert "The functions of the template produce more than" in reason


def test_what_is_referred_to_at_run_time_is_bounded_together(service):
    reason = failure_of(service, hot({**MORE, "M": value([TEXT] * 2000)}))

    assert "The functions of the template produce more than" in reason


def test_a_text_of_many_configs_is_bounded(service):
    config = {"type": "OS::Heat::SoftwareConfig", "properties": {"config": LARGE}}
    parts = [{"config": {"get_resource": "C"}}] * 2000
    whole = {"type": "OS::Heat::MultipartMime", "properties": {"parts": parts}}

    reason = failure_of(service, hot({"C": config, "M": whole}))

    assert "The parts have more than 4000000 characters together" in reason


def failure_of(service, template):
    """Return why a stack cannot be created; it is gone afterwards."""
    service.post("/stacks", {"stack_name": "large", "template": template}).raise_for_status()
    state, reason = service.settled("large")
    assert state == "CREATE_FAILED"
    service.ask("DELETE", f"/stacks/large/{service.id_of('large')}").raise_for_status()
    assert service.settled("large") is None
    service.assert_well()
    return reason
