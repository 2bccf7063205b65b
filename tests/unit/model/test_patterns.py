# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from heatconv.model.patterns import Pattern, PatternError, PatternTooHard
from heatconv.model.work import bounded_work

ATOMS = [
    "a", "b", ".", "[ab]", "[^a]", "[]a]", r"[\]a]", r"\d", r"\w", r"\x61", r"\.", "(a|b)", "(?:ab|a)",
    "(?P<n>a)", "(a*b?)", "((a+)+)", "(|a)", "(?=a)", "(?!b)", "^", "$", r"\b", r"\B", "{",
]  # fmt: skip
QUANTIFIERS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}", "*?", "+?"]
PIECES = st.tuples(st.sampled_from(ATOMS), st.sampled_from(QUANTIFIERS)).map("".join)
PATTERNS = st.lists(st.lists(PIECES, max_size=4).map("".join), min_size=1, max_size=2).map("|".join)


@given(PATTERNS, st.text(alphabet="ab1. ]{", max_size=6))
def test_it_agrees_with_re(pattern, text):
    try:
        compiled = re.compile(pattern)
    except re.error:
        assume(False)
    assert Pattern(pattern).matches(text) is (compiled.fullmatch(text) is not None)
    assert Pattern(pattern).is_in(text) is (compiled.search(text) is not None)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("(?i)ABC", "abc", True),
        ("(?s)a.b", "a\nb", True),
        ("a.b", "a\nb", False),
        (r"^(?=.*[a-z])(?=.*\d).{8,}$", "abcdefg1", True),
        (r"^(?=.*[a-z])(?=.*\d).{8,}$", "abcdefgh", False),
        (r"((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}", "192.168.0.255", True),
        (r"((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}", "192.168.0.256", False),
        (r"\0101", "\b1", True),
        (r"\101", "A", True),
        (r"é+", "éé", True),
    ],
)
def test_patterns_from_real_life(pattern, text, expected):
    assert Pattern(pattern).matches(text) is expected
    assert (re.fullmatch(pattern, text) is not None) is expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+b", "a" * 5000),
        ("(a|aa)*c", "a" * 5000),
        ("((a{1,500}){1,500}){1,500}", "a" * 1000 + "b"),
        ("(a*){1000}", "b"),
        ("(?:){1000000000}a", "b"),
        ("(a|b|){999999999}c", "ab" * 20),
    ],
)
def test_patterns_that_backtrack_for_ever_are_decided(pattern, text):
    assert Pattern(pattern).matches(text) is False


@pytest.mark.parametrize(("pattern", "expected"), [("ab?", True), ("", True), ("b", False), ("a$", False)])
def test_the_start_of_a_text_can_match(pattern, expected):
    assert Pattern(pattern).starts("abc") is expected


def test_ranges_that_take_long_to_compile_are_bounded():
    with bounded_work(), pytest.raises(PatternError, match="too much work"):
        Pattern("(?i)" + "[a-\uffff]" * 300)
    with bounded_work(), pytest.raises(PatternError, match="too much work"):
        Pattern("(?i)" + r"[\0-\uffff]" * 300)


def test_work_is_bounded():
    with pytest.raises(PatternTooHard):
        Pattern("(.*)(.*)(.*)x").matches("a" * 200_000)
    with pytest.raises(PatternTooHard):
        Pattern("(?:(?=.*b).)*").matches("a" * 5000 + "b")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "not a regular expression"),
        ("(a)\\1", "refer back"),
        ("(?P<x>a)(?P=x)", "kind of group"),
        ("(?<=a)b", "kind of group"),
        ("a++", "possessive"),
        ("(?x) a", "verbose"),
        ("a" * 5000, "4000 characters"),
        ("(" * 50 + ")" * 50, "40 groups"),
    ],
)
def test_what_cannot_be_matched_like_that_is_refused(pattern, reason):
    with pytest.raises(PatternError, match=reason):
        Pattern(pattern)


def test_equal_texts_are_equal_patterns():
    assert Pattern("a") == Pattern("a")
    assert len({Pattern("a"), Pattern("a"), Pattern("b")}) == 2
