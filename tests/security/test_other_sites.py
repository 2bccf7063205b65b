# SPDX-License-Identifier: Apache-2.0
"""A page of somebody else, open in a user's browser, made stacks, and read them.

A browser sends a form or plain text wherever a page says, asks nobody before, and adds
the user's password by itself.  A page may also be served from a name that its owner
then lets denote our address: to the browser that is the same site.  And whoever sent
a ``Host`` of their own got answers, and caches kept them, whose links led to it.
"""

from __future__ import annotations

import json
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
import requests

from heatconv.client.http import Client
from tests.functional.servers.one_process import heatconv_all
from tests.functional.waiting import until

EVIL = "https://evil.example.org"
TEMPLATE = {"heat_template_version": "2021-04-16"}
SIMPLE = [  # what a browser sends to another site without asking it
    "text/plain",
    "text/plain; charset=UTF-8; boundary=application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    None,
    "",
]


@pytest.fixture
def client(endpoint):
    with closing(Client(endpoint)) as client:
        yield client


def ask(endpoint, method, path, *, host=None, body=None, **headers):
    """Send a request with exactly these headers; return its status, its headers and its body."""
    at = urlsplit(endpoint)
    with closing(HTTPConnection(at.hostname, at.port, timeout=60)) as connection:
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", at.netloc if host is None else host)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


def names(endpoint):
    return {row["stack_name"] for row in requests.get(f"{endpoint}/stacks", timeout=60).json()["stacks"]}


@pytest.mark.parametrize("content_type", SIMPLE)
def test_a_form_of_another_site_makes_no_stack(endpoint, content_type):
    name = f"by-form-{SIMPLE.index(content_type)}"
    body = json.dumps({"stack_name": name, "template": TEMPLATE}).encode()
    typed = {} if content_type is None else {"Content_Type": content_type}

    status, _, text = ask(endpoint, "POST", "/v1/default/stacks", body=body, **typed)

    assert status == 400
    assert "Content-Type: application/json" in json.loads(text)["error"]["message"]
    assert name not in names(endpoint)


def test_what_clients_send_is_taken(client, endpoint):
    client.create_stack({"stack_name": "by-client", "template": TEMPLATE})
    body = json.dumps({"stack_name": "with-charset", "template": TEMPLATE}).encode()
    typed = {"Content_Type": "application/json; charset=UTF-8"}
    assert ask(endpoint, "POST", "/v1/default/stacks", body=body, **typed)[0] == 201
    assert {"by-client", "with-charset"} <= names(endpoint)


@pytest.mark.parametrize("content_type", SIMPLE)
def test_a_guest_may_signal_with_any_type(client, content_type):
    name = f"signalled-{SIMPLE.index(content_type)}"
    resources = {"handle": {"type": "OS::Heat::WaitConditionHandle"}}
    outputs = {"url": {"value": {"get_attr": ["handle", "endpoint"]}}}
    client.create_stack(
        {"stack_name": name, "template": TEMPLATE | {"resources": resources, "outputs": outputs}}
    )
    until(lambda: client.show_stack(name)["stack_status"] == "CREATE_COMPLETE")
    url = f"{client.show_stack(name)['links'][0]['href']}/resources/handle/signal"
    typed = {} if content_type is None else {"Content_Type": content_type}

    answer = ask(url, "POST", urlsplit(url).path, body=b'{"id": "1", "data": "x"}', **typed)

    assert answer[0] == 200, answer


@pytest.mark.parametrize("origin", [EVIL, "null", "http://127.0.0.1:1", "http://127.0.0.1.evil.example.org"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_page_of_another_site_may_not_ask(endpoint, origin, method):
    body = json.dumps({"stack_name": "by-page", "template": TEMPLATE}).encode() if method == "POST" else None
    typed = {"Content_Type": "application/json"}
    path = "/v1/default/stacks" + ("/any/thing" if method == "DELETE" else "")

    status, _, text = ask(endpoint, method, path, body=body, Origin=origin, **typed)

    assert status == 403
    assert "[cors] allowed_origin" in json.loads(text)["error"]["message"]
    assert "by-page" not in names(endpoint)


def test_a_page_of_the_same_site_may(endpoint):
    own = f"http://{urlsplit(endpoint).netloc}"
    assert ask(endpoint, "GET", "/v1/default/stacks", Origin=own)[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.org",
        "evil.example.org:8004",
        "localhost.evil.example.org",
        "localhost@evil.example.org",
        "localhost/@evil.example.org",
        "192.0.2.1",
        "[2001:db8::1]:80",
        "2130706433.evil.example.org",
        "localhost:x",
        "local\thost",
    ],
)
@pytest.mark.parametrize("path", ["/v1/default/stacks", "/", "/openapi.json"])
def test_nobody_is_served_by_a_name_that_is_not_ours(endpoint, host, path):
    status, _, text = ask(endpoint, "GET", path, host=host)

    assert status in (400, 403)
    assert "stacks" not in text or "allowed_hosts" in text


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8004", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]:80"]
)
def test_by_our_own_names_everybody_is(endpoint, host):
    status, _, text = ask(endpoint, "GET", "/", host=host)

    assert status == 300
    assert json.loads(text)["versions"][0]["links"][0]["href"] == f"http://{host}/v1/"


def test_who_logs_in_by_password_is_no_pages_servant(by_password):
    for headers, expected in (
        ({}, 201),
        ({"Origin": EVIL}, 403),
        ({"Origin": "null"}, 403),
    ):
        answer = requests.post(
            f"{by_password.endpoint}/v1/{by_password.projects['mine']}/stacks",
            json={"stack_name": f"by-{len(headers)}-{expected}", "template": TEMPLATE},
            headers={**by_password.headers["owner"], **headers},
            timeout=60,
        )
        assert answer.status_code == expected, answer.text


def test_links_lead_to_no_name_that_is_not_ours(by_password):
    """There is a login, and so any name may be used; links do not repeat it."""
    headers = {**by_password.headers["owner"]}
    url = f"{by_password.endpoint}/v1/{by_password.projects['mine']}/stacks"
    made = {"stack_name": "linked", "template": TEMPLATE}
    assert requests.post(url, json=made, headers=headers, timeout=60).status_code == 201
    for more in ({"Host": "evil.example.org"}, {"X-Forwarded-Host": "evil.example.org"}):
        found = requests.get(f"{url}/linked", headers={**headers, **more}, allow_redirects=False, timeout=60)
        assert found.status_code == 302
        assert found.headers["Location"].startswith(f"{url}/linked/")
        shown = requests.get(found.headers["Location"], headers={**headers, **more}, timeout=60)
        assert "evil" not in shown.text


def test_links_lead_to_what_is_configured(tmp_path, cloud_url):
    file = tmp_path / "heatconv.conf"
    file.write_text(
        "[api]\nallowed_hosts = heat.example.org\npublic_endpoint = https://cloud.example.org/heat\n"
        "[cors]\nallowed_origin = https://dashboard.example.org\n"
    )
    (tmp_path / "it").mkdir()
    with heatconv_all(tmp_path / "it", cloud_url, "--config-file", str(file)) as endpoint:
        for host, base in (
            ("heat.example.org:8004", "http://heat.example.org:8004"),
            ("cloud.example.org", "http://cloud.example.org"),
        ):
            status, _, text = ask(endpoint, "GET", "/", host=host, Origin="https://dashboard.example.org")
            assert status == 300
            assert json.loads(text)["versions"][0]["links"][0]["href"] == f"{base}/v1/"
