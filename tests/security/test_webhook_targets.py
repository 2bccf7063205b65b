# SPDX-License-Identifier: Apache-2.0
"""A user had events posted to where the operator allows none, by a path that servers read in two ways.

Tomcat drops ``;`` and what follows in a step before it resolves ``..``; proxies resolve
what was quoted, or quoted twice; others take look-alikes of dots for dots.
"""

from __future__ import annotations

from contextlib import closing
from urllib.parse import quote

import pytest

from heatconv import errors
from heatconv.client.http import Client, ClientError
from heatconv.sinks.addresses import Address
from heatconv.sinks.webhook import Rules, Webhook
from tests.functional.servers.one_process import heatconv_all

PREFIX = "https://hooks.example.org/heat"
ALLOWED = [PREFIX, "http://10.0.0.1:8080/", "http://[2001:db8::1]/in"]
RULES = Rules.of(ALLOWED, None, 1.0)

ELSEWHERE = [
    *(
        f"/heat/{step}/admin"
        for step in (
            "..;",
            "..;x=y",
            ".;/..",
            ";/..",
            "..",
            "%2e%2e",
            "%2E.",
            ".%2e;",
            "%252e%252e",
            "%25252e%25252e",
            "..%3b",
            "..%253b",
            "a/../..",
            "..%00",
            "..%20",
            "..%09",
            "%c0%ae%c0%ae",
            "%u002e%u002e",
            quote("．．"),  # noqa: RUF001 - they look like dots
            quote("‥"),
            quote("..／"),  # noqa: RUF001 - it looks like a slash
        )
    ),
    "/heat/..%2fadmin",
    "/heat/..%252fadmin",
    "/heat/..%5cadmin",
    "/heat/..%255cadmin",
    "/heat/..\\admin",
    "/heat%2f..%2fadmin",
    "/heat//../admin",
    "/heat//evil.example.org/",
    "/heat/%",
    "/heat/%zz",
    "/heat/a%0d%0aHost:%20evil.example.org",
    "/heat/a%3fb",
    "/heat/a%23b",
    "/heat;/../admin",
    "/heat;x=y/admin",
    "/heat/..;/..;/",
]
OTHER_HOSTS = [
    "https://hooks.example.org@evil.example.org/heat",
    "https://evil.example.org%40hooks.example.org/heat",
    "https://hooks.example.org%2eevil.example.org/heat",
    "https://hooks.example.org%00.evil.example.org/heat",
    "https://hooks.example.org:443@evil.example.org/heat",
    "https://hooks.example.org\\@evil.example.org/heat",
    "https://evil.example.org#@hooks.example.org/heat",
    "https://evil.example.org?@hooks.example.org/heat",
    "https://hooks.example.org.evil.example.org/heat",
    "https://hooks.example.org./heat",
    "https://hooks.example.org:8443/heat",
    "https://hooks.example.org:443:80/heat",
    "https://hooks.example.org:-1/heat",
    "https://hooks.example.org, evil.example.org/heat",
    "https://hooks。example。org/heat",
    "https://ｈooks.example.org/heat",  # noqa: RUF001 - it looks like an h
    "https://xn--ooks-0s8a.example.org/heat",
    "http://hooks.example.org/heat",
    "http://0x0a000001:8080/",
    "http://167772161:8080/",
    "http://[::ffff:10.0.0.1]:8080/",
    "http://[2001:db8::1%25eth0]/in",
    "//hooks.example.org/heat",
    "https:hooks.example.org/heat",
    "https:\\\\hooks.example.org/heat",
]


@pytest.mark.parametrize("target", [f"https://hooks.example.org{path}" for path in ELSEWHERE] + OTHER_HOSTS)
def test_what_may_lead_elsewhere_is_refused(target):
    with pytest.raises(errors.Invalid) as refused:
        Webhook(RULES, target=target)
    assert [path for path, _ in refused.value.problems] == ["target"]


@pytest.mark.parametrize("path", [path for path in ELSEWHERE if path != "/heat;x=y/admin"])
def test_also_where_every_path_of_a_server_is_allowed(path):
    """The host alone does not bind: to some servers a path that begins with // is on another one."""
    with pytest.raises(ValueError, match=r"path|characters"):
        Address.of(f"http://10.0.0.1:8080{path}")


@pytest.mark.parametrize(
    "target",
    [
        "https://hooks.example.org/heat",
        "https://hooks.example.org/heat/",
        "https://hooks.example.org/heat/v1.0/a.b..c/...",
        "https://hooks.example.org/heat/a;v=1/b",
        "https://hooks.example.org/heat/a%20b/%C3%A9t%C3%A9",
        "https://hooks.example.org/heat?next=/../admin&x=%2e%2e",
        "https://HOOKS.example.org:443/heat",
        "http://10.0.0.1:8080/any",
        "http://[2001:DB8::1]:80/in/a",
    ],
)
def test_what_leads_where_it_says_is_allowed(target):
    Webhook(RULES, target=target)


def test_what_is_allowed_has_no_query():
    with pytest.raises(errors.Misconfigured, match="no query"):
        Rules.of(["https://hooks.example.org/heat?key=1"], None, 1.0)


def test_a_stack_with_such_a_target_is_refused_in_a_sentence(tmp_path, cloud_url):
    file = tmp_path / "heatconv.conf"
    file.write_text(f"[event_sinks]\nwebhook_allow = {PREFIX}\n")
    sinks = [{"type": "webhook", "target": f"{PREFIX}/..;/admin"}]
    body = {
        "stack_name": "leaving",
        "template": {"heat_template_version": "2021-04-16"},
        "environment": {"event_sinks": sinks},
    }
    (tmp_path / "it").mkdir()
    with (
        heatconv_all(tmp_path / "it", cloud_url, "--config-file", str(file)) as endpoint,
        closing(Client(endpoint)) as client,
    ):
        with pytest.raises(ClientError, match=r"steps \. and \.\."):
            client.create_stack(body)
        assert list(client.list_stacks({})) == []
