# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from heatconv.model.secrets import (
    HIDDEN,
    MAX_SENTENCE,
    PIECE,
    account,
    found_in,
    has_whole,
    masked,
    masked_text,
    redacted_values,
    sentence,
    texts_in,
)

LONG = "correct horse battery staple"
PASSWORD = "hunter22"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"no good: {LONG}!", "no good: ******!"),
        (f"'{LONG[:17]}...' is too long", "'******...' is too long"),
        (f"...{LONG[9:]}", "...******"),
        (f"{LONG}{LONG}", "******"),
        (f"{LONG} and {LONG}", "****** and ******"),
        (LONG[: PIECE - 1], LONG[: PIECE - 1]),
        (f"user:{PASSWORD}@host", "user:******@host"),
        (f"x{PASSWORD}x", "x******x"),
        ("hunter2", "hunter2"),
        ("nothing of it", "nothing of it"),
        ("", ""),
    ],
)
def test_a_secret_and_pieces_of_it_are_hidden(text, shown):
    assert masked_text(text, [LONG, PASSWORD]) == shown


def test_a_short_secret_is_hidden_where_it_stands_alone():
    assert masked_text("a1 costs 1, or 11; (1)", ["1"]) == "a1 costs ******, or 11; (******)"


@pytest.mark.parametrize("quoted", [json.dumps, repr, lambda text: quote(text, safe="")])
def test_a_secret_is_known_in_other_spellings(quoted):
    secret = 'tab\tand "quote" & slash/'
    assert "quote" not in masked_text(f"<{quoted(secret)}>", [secret])


@pytest.mark.parametrize("before", ["", "x", "xy"])
def test_a_secret_is_known_in_base64(before):
    coded = base64.b64encode(f"{before}{LONG}.".encode()).decode()
    shown = masked_text(coded, [LONG])

    assert "******" in shown
    assert len(shown) <= len("****") * 4
    assert masked_text(coded, [PASSWORD]) == coded


@given(secret=st.text(min_size=PIECE + 1), before=st.text(), after=st.text())
def test_no_piece_of_a_long_secret_is_left(secret, before, after):
    assume(secret.strip())
    pieces = {secret[start : start + PIECE] for start in range(len(secret) - PIECE + 1)}

    for shown in masked_text(before + secret + after, [secret]).split("******"):
        assert not any(shown[start : start + PIECE] in pieces for start in range(len(shown)))


def test_without_secrets_nothing_is_hidden():
    assert masked_text(LONG, []) == LONG
    assert masked_text(LONG, [""]) == LONG
    assert masked({"a": [1, None]}, ()) == {"a": [1, None]}


def test_data_keeps_its_shape():
    data = {"user": "me", "login": [f"me:{PASSWORD}", 12345, 1.5, True, None], PASSWORD: {}}

    assert masked(data, [PASSWORD, "12345"]) == {
        "user": "me",
        "login": ["me:******", "******", 1.5, True, None],
        "******": {},
    }


def test_the_texts_of_data_are_its_texts_and_numbers():
    assert list(texts_in({"a": ["x", 1, 2.5], "b": {"c": "y"}, "d": True, "e": None})) == [
        "x",
        "1",
        "2.5",
        "y",
    ]


def test_the_secrets_that_data_has_in_it_are_found():
    assert found_in({"a": [f"x{PASSWORD}"]}, [LONG, PASSWORD]) == (PASSWORD,)
    assert found_in([LONG[:PIECE]], [LONG, PASSWORD]) == (LONG,)
    assert found_in([None, {}], [LONG]) == ()


def test_a_text_is_known_by_a_secret_in_it_and_as_a_part_of_one():
    assert has_whole(f"before {LONG} behind", [PASSWORD, LONG])
    assert has_whole(LONG[1:], [LONG])
    assert not has_whole(f"before {LONG[:-1]}", [LONG])
    assert not has_whole("before", [LONG])
    assert not has_whole(LONG[:3], [LONG])
    assert not has_whole(LONG, [])


def test_what_redacted_notes_say_is_secret():
    notes = {"$redacted": '["password", "gone"]', "password": PASSWORD, "port": "22"}

    assert redacted_values(notes) == {PASSWORD}
    assert redacted_values({"port": "22"}) == set()


def test_a_sentence_can_be_stored_and_has_an_end():
    assert sentence("a\0b\ud800c") == "a\N{REPLACEMENT CHARACTER}b?c"
    assert sentence(f"It is {LONG}.", [LONG]) == "It is ******."
    assert len(sentence("x" * 100_000)) == MAX_SENTENCE + 3


def test_a_sentence_is_cut_after_its_secrets_are_hidden():
    text = "x" * (MAX_SENTENCE - 5) + LONG
    assert LONG[:3] not in sentence(text, [LONG])


def fail():
    raise ValueError(LONG)


def fail_for_a_cause():
    try:
        fail()
    except ValueError as error:
        raise KeyError(PASSWORD) from error


def test_an_account_tells_of_causes_but_not_of_secrets():
    with pytest.raises(KeyError) as caught:
        fail_for_a_cause()

    text = account(caught.value, [LONG, PASSWORD])

    assert "ValueError: ******" in text
    assert "KeyError" in text
    assert PASSWORD not in text
    assert LONG not in text


def test_the_longest_of_short_secrets_is_hidden_first_and_no_more_than_there_is():
    assert masked_text("abcde xabcd abc", ["abcd", "abcde", "abc"]) == f"{HIDDEN} x{HIDDEN} {HIDDEN}"
    assert masked_text("xab", ["ab", "abxyz"]) == "xab"
    assert masked_text("x ab", ["ab", "abxyz"]) == f"x {HIDDEN}"


def test_where_there_is_too_much_to_hide_nothing_is_shown():
    many = [f"{number:x}" * 3 for number in range(20_000)]
    assert masked({"a": ["b", 1, True, None]}, many) == {HIDDEN: [HIDDEN, HIDDEN, True, None]}
