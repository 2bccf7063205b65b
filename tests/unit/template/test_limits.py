# SPDX-License-Identifier: Apache-2.0
"""Small templates that describe very much: each is refused, or done with, in a time that is bounded.

Here the work that a template may take is a fiftieth of what it really is, to save time.
Without limits most of these take hours, or all memory: they end by pytest's timeout.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from heatconv.errors import ActionFailed, Invalid
from heatconv.model import work
from heatconv.model.work import bounded_work, may_work
from heatconv.template import describe, load_template, merge, resolve

TOO_MUCH = "too much work"


@pytest.fixture(autouse=True)
def _little_work(monkeypatch):
    monkeypatch.setattr(work, "MAX_WORK", work.MAX_WORK // 50)


def outputs(value: str, times: int, parameters: dict[str, Any] | None = None) -> str:
    """Return a text whose outputs all alias one value."""
    declared = {
        name: {"type": "string" if isinstance(default, str) else "json", "default": default}
        for name, default in (parameters or {}).items()
    }
    lines = [f"heat_template_version: wallaby\nparameters: {json.dumps(declared)}\noutputs:"]
    lines.append(f"  first: {{value: &value {value}}}")
    lines += [f"  o{number}: {{value: *value}}" for number in range(times)]
    return "\n".join(lines)


def cloudformation(value: str, times: int, mapping: Any) -> str:
    lines = [f"AWSTemplateFormatVersion: 2010-09-09\nMappings: {{M: {{a: {{b: {json.dumps(mapping)}}}}}}}"]
    lines.append(f"Outputs:\n  first: {{Value: &value {value}}}")
    lines += [f"  o{number}: {{Value: *value}}" for number in range(times)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        pytest.param(
            outputs(
                "{yaql: {expression: '$.data.where(range(10).any($ = 9)).len()', data: [1, 2, 3]}}", 9000
            ),
            TOO_MUCH,
            id="many queries",
        ),
        pytest.param(
            outputs(
                "{str_replace: {template: {get_param: text}, params: {get_param: keys}}}",
                1000,
                {"text": "a" * 140_000, "keys": {f"{'a' * 50}b{number}": "" for number in range(3000)}},
            ),
            TOO_MUCH,
            id="many searches",
        ),
        pytest.param(
            outputs(
                "{repeat: {template: {get_param: texts}, for_each: {get_param: variables}}}",
                10,
                {
                    "texts": [f"text {number}" for number in range(20_000)],
                    "variables": {f"v{number}": ["x"] for number in range(5000)},
                },
            ),
            TOO_MUCH,
            id="many variables",
        ),
        pytest.param(
            outputs(
                "{repeat: {template: x, for_each: {a: &list {get_param: list}, b: *list, c: *list}}}",
                0,
                {"list": ["x"] * 1000},
            ),
            "repeat would produce more than",
            id="a big product",
        ),
        pytest.param(
            cloudformation("{'Fn::FindInMap': [M, a, b]}", 5000, ["x"] * 50_000),
            "The functions of the template produce more than",
            id="a mapping many times",
        ),
        pytest.param(
            cloudformation(
                "{'Fn::Select': ['0', {'Fn::FindInMap': [M, a, b]}]}", 5000, json.dumps([1] * 99_000)
            ),
            "The functions of the template produce more than",
            id="a long JSON text many times",
        ),
    ],
)
def test_much_out_of_little_is_refused(frozen, template, sentence):
    with pytest.raises(Invalid, match=sentence):
        frozen(template)


def test_patterns_are_bounded_together():
    parameters = {
        f"p{number}": {
            "type": "string",
            "default": "a" * 60,
            "constraints": [{"allowed_pattern": "((a*)*(a|aa)*)*b"}],
        }
        for number in range(2500)
    }
    with pytest.raises(Invalid, match=TOO_MUCH):
        describe({"heat_template_version": "rocky", "parameters": parameters}, merge(None, [], {}, {}))


def test_long_patterns_are_not_even_compiled(problems_of):
    # By aliases, so that the text stays small.
    declared = f"{{type: string, default: '', constraints: [allowed_pattern: {'a?' * 2000}]}}"
    lines = [f"heat_template_version: rocky\nparameters:\n  p: &p {declared}"]
    lines += [f"  p{number}: *p" for number in range(1500)]
    assert TOO_MUCH in str(problems_of("\n".join(lines)))


def test_a_registry_is_tried_with_many_resources(frozen):
    lines = ["heat_template_version: rocky\nresources:\n  a: &a {type: OS::Heat::None}"]
    lines += [f"  r{number}: *a" for number in range(10_000)]
    patterns = {f"{'*r' * 50}{number}": {"hooks": "pre-create"} for number in range(100)}
    registry = {f"OS::{number}*": "X" for number in range(100)} | {"resources": patterns}
    assert len(frozen("\n".join(lines), environment={"resource_registry": registry}).definitions) == 10_001


def test_the_same_environment_file_again_and_again_is_read_once():
    files = {"e": json.dumps({"parameters": {f"p{number}": 1 for number in range(20_000)}})}
    with pytest.raises(Invalid, match="The environment file 'e' is named more than once"):
        merge(None, ["e"] * 100_000, files, {})


def test_a_long_circle_is_told_in_short(frozen):
    lines = ["heat_template_version: rocky\nresources:"]
    lines += [f"  r{number}: {{type: T, depends_on: r{(number + 1) % 9000}}}" for number in range(9000)]
    with pytest.raises(Invalid) as caught:
        frozen("\n".join(lines))
    assert len(str(caught.value)) < 1000


def test_a_chain_of_conditions_may_be_long(frozen):
    lines = ["heat_template_version: rocky\nconditions:\n  c0: true"]
    lines += [f"  c{number}: {{not: c{number - 1}}}" for number in range(1, 20_000)]
    lines.append("outputs: {o: {condition: c19999, value: 1}}")
    assert not frozen("\n".join(lines)).outputs["o"].condition_holds


def test_run_time_has_the_same_bounds():
    data = {"$fn": "get_attr", "args": ["a", "b"]}
    query = {"expression": "range(50).select($ + 1).len()", "data": data}
    call = {"$fn": "yaql", "args": query}
    assert resolve([call], {}) == [50]
    with pytest.raises(ActionFailed, match=TOO_MUCH):
        resolve([call] * 1000, {})


def test_work_is_counted_apart_for_each_evaluation():
    assert may_work(work.MAX_WORK + 1)  # nobody counts
    for _ in range(2):
        with bounded_work():
            assert may_work(work.MAX_WORK)
            assert not may_work(1)


@pytest.mark.parametrize("key", ["AWSTemplateFormatVersion", "HeatTemplateFormatVersion"])
def test_the_bounds_of_texts_hold_for_every_language(key):
    version = "2010-09-09" if key.startswith("AWS") else "2012-12-12"
    with pytest.raises(Invalid, match="at most 524288"):
        load_template({key: version, "Description": "x" * 600_000})
    deep = "[" * 100 + "]" * 100
    with pytest.raises(Invalid, match="nested more than 64 levels"):
        load_template(f"{key}: {version}\nResources: {{a: {deep}}}")
    bomb = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))
    with pytest.raises(Invalid, match="more than 200000 values"):
        load_template(f"{key}: {version}\na0: &a0 [{', '.join('x' * 10)}]\n{bomb}")
