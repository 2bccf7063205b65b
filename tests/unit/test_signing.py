# SPDX-License-Identifier: Apache-2.0
"""URLs that are their own permission."""

from __future__ import annotations

import time
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv import errors
from heatconv.crypto import Keyring
from heatconv.signing import Signer

SIGNER = Signer(b"k" * 32, "https://heat.example.org/orchestration/")
WHERE = ("p", "web", "4b0e", "server")
HOUR = 3600


def received(url):
    """Return path and query as the API sees them."""
    parts = urlsplit(url)
    return unquote(parts.path).removeprefix("/orchestration"), dict(parse_qsl(parts.query))


def test_it_is_a_url_of_the_signal_route():
    url = SIGNER.signal_url("p", "web", "4b0e", "a/b c")
    assert url.startswith(
        "https://heat.example.org/orchestration/v1/p/stacks/web/4b0e/resources/a%2Fb%20c/signal?signature="
    )


def test_the_same_question_has_the_same_answer():
    assert SIGNER.signal_url(*WHERE, 12) == SIGNER.signal_url(*WHERE, 12)


@given(st.tuples(*[st.text(min_size=1).filter(lambda text: "\ud800" not in text)] * 4))
def test_what_it_signed_it_lets_through(where):
    SIGNER.verify(*received(SIGNER.signal_url(*where)))


def test_until_it_expires():
    now = int(time.time())
    SIGNER.verify(*received(SIGNER.signal_url(*WHERE, now + HOUR)))
    with pytest.raises(errors.Forbidden, match="expired"):
        SIGNER.verify(*received(SIGNER.signal_url(*WHERE, now - 1)))


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"signature": ""},
        {"signature": "\u00e9"},
        {"expires": "99999999999"},
    ],
)
def test_nothing_is_signed_by_itself(query):
    path, _ = received(SIGNER.signal_url(*WHERE))
    with pytest.raises(errors.Forbidden):
        SIGNER.verify(path, query)


@pytest.mark.parametrize(
    ("where", "change"),
    [
        (("q", "web", "4b0e", "server"), {}),
        (("p", "web", "4b0e", "other"), {}),
        (("p", "web", "4b0f", "server"), {}),
        (WHERE, {"expires": "99999999999"}),
        (WHERE, {"expires": ""}),
    ],
)
def test_a_signature_is_good_for_what_it_was_made_for(where, change):
    _, query = received(SIGNER.signal_url(*WHERE, 9999999999))
    path, _ = received(SIGNER.signal_url(*where))
    with pytest.raises(errors.Forbidden, match="not signed"):
        SIGNER.verify(path, query | change)


def test_a_url_outlives_the_key_it_was_signed_with():
    before, after = Keyring("o" * 32), Keyring("n" * 32, ["o" * 32])
    url = Signer(before.subkey("signals"), "https://heat").signal_url(*WHERE)
    secret, *old_secrets = after.subkeys("signals")
    renewed = Signer(secret, "https://heat", old_secrets)
    renewed.verify(*received(url))
    assert renewed.signal_url(*WHERE) != url


def test_another_key_is_another_signer():
    with pytest.raises(errors.Forbidden):
        Signer(b"l" * 32, "https://heat.example.org").verify(*received(SIGNER.signal_url(*WHERE)))
