# SPDX-License-Identifier: Apache-2.0
"""What Neutron's client was told in answer to a POST or a DELETE it does not ask for at once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heatconv.openstack.mended import answers
from heatconv.openstack.mended.answers import believes_its_answers


class NotFound(Exception):
    """As Neutron's client has it."""


class Client:
    """As much of Neutron's client as sends requests; answers are those of a service with two networks."""

    def __init__(self):
        self.sent = []

    def do_request(self, method, action, body=None, headers=None, params=None):
        self.sent.append(f"{method} {action}")
        return {"network": {"id": "n1", "status": "ACTIVE" if method == "GET" else "BUILD"}}


@pytest.fixture
def client():
    class Plugin:
        exceptions_module = SimpleNamespace(NotFound=NotFound)

        def _create(self):
            return Client()

    believes_its_answers(Plugin)
    return Plugin()._create()


def post(client):
    return client.do_request("POST", "/networks", body={"network": {}})


def test_what_was_made_is_as_the_answer_said(client):
    assert post(client) == client.do_request("GET", "/networks/n1")
    assert client.sent == ["POST /networks"]


@pytest.mark.parametrize(
    ("method", "action"),
    [("GET", "/networks/n1"), ("PUT", "/networks/n1/tags"), ("GET", "/networks/n2"), ("POST", "/ports")],
)
def test_it_is_asked_for_after_any_other_request(client, method, action):
    post(client)
    client.do_request(method, action)
    client.sent.clear()
    assert client.do_request("GET", "/networks/n1")["network"]["status"] == "ACTIVE"
    assert client.sent == ["GET /networks/n1"]


def test_it_is_asked_for_if_more_is_wanted_or_time_has_passed(client, monkeypatch):
    post(client)
    client.do_request("GET", "/networks/n1", params={"fields": "id"})
    assert client.sent == ["POST /networks", "GET /networks/n1"]
    monkeypatch.setattr(answers, "LATELY", -1)
    post(client)
    assert client.do_request("GET", "/networks/n1")["network"]["status"] == "ACTIVE"


def test_what_was_deleted_is_gone(client, monkeypatch):
    client.do_request("DELETE", "/ports/p1")
    with pytest.raises(NotFound):
        client.do_request("GET", "/ports/p1")
    assert client.sent == ["DELETE /ports/p1"]
    client.do_request("GET", "/ports/p1")  # whoever asks again wants to know
    assert client.sent == ["DELETE /ports/p1", "GET /ports/p1"]
    monkeypatch.setattr(answers, "LATELY", -1)
    client.do_request("DELETE", "/ports/p1")
    client.do_request("GET", "/ports/p1")
    assert client.sent[2:] == ["DELETE /ports/p1", "GET /ports/p1"]


def test_what_takes_a_while_to_go_is_asked_for(client):
    for path in ("/vpn/ipsecpolicies/i1", "/fwaas/firewall_groups/f1", "/routers/r1/l3-agents/a1"):
        client.do_request("DELETE", path)
        client.do_request("GET", path)
        assert client.sent.pop() == f"GET {path}"
