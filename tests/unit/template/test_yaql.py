# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

import pytest


def query(expression, data=None):
    return {"yaql": {"expression": expression, "data": data}}


@pytest.mark.parametrize(
    ("expression", "data", "value"),
    [
        ("$.data.where($ > 1)", [1, 2, 3], [2, 3]),
        ("dict($.data.select([$.k, $.v]))", [{"k": "a", "v": 1}], {"a": 1}),
        ("$.data.toSet()", [1, 1], [1]),
        ("$.data.a.b", {"a": {"b": None}}, None),
        ("pow(2, 3) + pow(2, 3, 5) + pow(2.0, 1)", None, 13.0),
        ("'abc'.matches('b') and 'abc' =~ 'c$' and 'abc' !~ '^c'", None, True),
        ("regex('^a+$').matches('aaa') and 'b' =~ regex('b')", None, True),
        ("sequence().take(3)", None, [0, 1, 2]),
        ("generate(0, $ < 3, $ + 1)", None, [0, 1, 2]),
        ("2 * [1] + [3 * 3]", None, [1, 1, 9]),
    ],
)
def test_a_query_has_its_value(value_of, expression, data, value):
    assert value_of(query(expression, data)) == value


@pytest.mark.parametrize(
    "expression",
    [
        "1 +",
        "$.data.nothing()",
        "now()",
        "range(300).select($)",
        "'a' * 100000000",
        "1000000000 * [1]",
        "pow(10, 1000000000)",
        "1.repeat().len()",
        "[1].cycle().last()",
        "sequence().skip(10000000000).first()",
        "range(1000000000).len()",
        "range(0, 1000000000, 1).last()",
        "shiftBitsLeft(1, 100000000000)",
        "range(100).aggregate(shiftBitsLeft($1, 10000), 1)",
        "range(60).aggregate($1 * $1, 3)",
        "int('9' * 4000)",
        "range(60).aggregate($1 + $1, 'a')",
        "range(60).aggregate($1.replace('a', 'aaaaaaaaaa'), 'a')",
        "float('inf')",
        "float('nan')",
        "range(0, 199).selectMany(range(0, 199).selectMany(range(0, 199)))",
        "def(f, f()) -> f()",
        "'aa'.matches('(a)\\\\1')",
    ],
)
def test_a_query_that_cannot_be_answered_says_so(problem_of, expression):
    path, sentence = problem_of(query(expression))
    assert path == "yaql.expression"
    assert sentence.endswith(".")


def test_a_query_is_a_text(problem_of):
    assert problem_of(query(1)) == ("yaql.expression", "It has to be a text, not a number (1).")


def test_a_result_is_as_small_as_any_value(problem_of):
    for expression in ("range(199).aggregate([$1], 1)", "range(199).aggregate({a => $1}, 1)"):
        path, sentence = problem_of(query(expression))
        assert path == "yaql.expression"
        assert "levels of nesting" in sentence


def test_operators_set_the_limits():
    script = (
        "from heatconv.template import limits\n"
        "limits.YAQL.iterators, limits.YAQL.memory = 1000, 100000\n"
        "from heatconv.template.functions.query import yaql\n"
        "print(yaql({'expression': 'range(300).select($).len()', 'data': None}))\n"
        "print(len(yaql({'expression': \"'a' * 50000\", 'data': None})))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["300", "50000"]
