# SPDX-License-Identifier: Apache-2.0
"""What an environment may say of event sinks, and the mistakes that are found in the rest."""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.sinks.types import SinkTypes, effective
from heatconv.sinks.webhook import Rules, signature

TYPES = SinkTypes(
    rules=Rules.of(["https://hooks.example.org/heat"], None, 10), notify=lambda *_args, **_more: None
)
HOOK = {"type": "webhook", "target": "https://hooks.example.org/heat/1"}


def test_what_can_be_is_accepted():
    TYPES.check(
        {
            "event_sinks": [
                HOOK,
                HOOK | {"secret": "s"},
                {"type": "notification"},
                {"type": "zaqar-queue", "target": "q", "ttl": 3},
            ]
        }
    )


def test_an_environment_may_say_nothing():
    TYPES.check({})


@pytest.mark.parametrize(
    ("sink", "path", "complaint"),
    [
        ({"type": "pigeon"}, ".type", "no type of event sink pigeon; there are notification, webhook, zaqar"),
        ({"type": "webhook"}, ".target", "has to be the URL to post to"),
        (HOOK | {"target": "gopher://x/"}, ".target", "http:// or https://"),
        (HOOK | {"target": "https://evil.net/token"}, ".target", "https://evil.net with.*webhook_allow"),
        (HOOK | {"secret": 7}, ".secret", "has to be a text"),
        (HOOK | {"secret": ""}, ".secret", "not empty"),
        (HOOK | {"secret": "******"}, ".secret", "shown in place of a secret"),
        (HOOK | {"rules": "none", "self": 1}, "", "type, target and secret"),
        ({"type": "notification", "notify": 1}, "", "the key type, and no other"),
    ],
)
def test_what_cannot_be_is_told_with_its_place(sink, path, complaint):
    with pytest.raises(errors.Invalid, match=complaint) as refused:
        TYPES.check({"event_sinks": [HOOK, sink]})

    assert [where for where, _ in refused.value.problems] == [f"event_sinks[1]{path}"]
    assert "token" not in str(refused.value)


def test_where_the_operator_has_said_nothing_there_are_neither_webhooks_nor_notifications():
    with pytest.raises(errors.Invalid) as refused:
        SinkTypes().check({"event_sinks": [HOOK, {"type": "notification"}]})

    assert [where for where, _ in refused.value.problems] == ["event_sinks[0].target", "event_sinks[1].type"]


@pytest.mark.parametrize("url", ["hooks.example.org", "https://hooks.example.org/a/../b", "*"])
def test_an_operator_who_allows_what_is_no_url_is_told(url):
    with pytest.raises(errors.Misconfigured, match="webhook_allow"):
        Rules.of([url], None, 10)


def test_nothing_is_sent_to_queues_of_zaqar():
    assert effective({"event_sinks": [{"type": "zaqar-queue"}, HOOK]}) == [HOOK]
    assert effective({"event_sinks": []}) == []
    assert effective({}) is None


def test_a_signature_is_of_the_moment_and_the_body():
    signed = signature("key", b"{}", 1700000000)

    # printf '1700000000.{}' | openssl dgst -sha256 -hmac key
    assert signed == "t=1700000000,v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"
    assert signature("key", b"{ }", 1700000000) != signed != signature("key", b"{}", 1700000001)
