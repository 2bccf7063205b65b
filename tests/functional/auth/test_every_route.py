# SPDX-License-Identifier: Apache-2.0
"""Every route, for everybody it is not for: with tokens of a real Keystone, and with passwords."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest
import requests

from tests.functional.auth.installation import ROUTE_LIST

#: A first run installs Keystone.
pytestmark = pytest.mark.timeout(300)


#: The routes about one thing that belongs to a project.
OF_SOMEBODY = [
    (method, url)
    for method, url in ROUTE_LIST
    if any(field in url for field in ("{stack_name}", "{config_id}", "{deployment_id}", "{plan_id}"))
]
#: Those of them that are no mere look: a name is looked up with any method.
CHANGES = {
    f"{method} {url}"
    for method, url in OF_SOMEBODY
    if method != "GET"
    and not url.endswith("/preview")
    and ("{stack_id}" in url or "{stack_name}" not in url)
    and "{arn_id}" not in url
}


@pytest.fixture(autouse=True)
def unchanged(installation):
    """See that what was refused left no trace."""
    before = installation.inventory()
    yield
    assert installation.inventory() == before


def test_its_owner_may_read_it_all(installation):
    """What follows means something only if the addresses are right."""
    there = [
        (method, url)
        for method, url in ROUTE_LIST
        if method == "GET" and not url.endswith(("/export", "{snapshot_id}", "/services", "/services/work"))
    ]
    statuses = installation.ask_each("owner", routes=there)
    assert set(statuses.values()) == {200, 302}, statuses


def test_nobody_is_known_without_saying_who_it_is(installation):
    statuses = installation.ask_each(None)
    assert statuses == dict.fromkeys(statuses, 401)
    assert len(statuses) == len(ROUTE_LIST)


def test_a_role_that_nothing_is_for(installation):
    statuses = installation.ask_each("guest")
    assert statuses == dict.fromkeys(statuses, 403)


@pytest.mark.parametrize("user", ["neighbour", "guest", "server"])
def test_another_projects_address(installation, user):
    statuses = installation.ask_each(user, project="theirs" if user != "neighbour" else "mine")
    assert statuses == dict.fromkeys(statuses, 403)


def test_what_another_project_has_is_not_there(installation):
    statuses = installation.ask_each("neighbour", project="theirs", routes=OF_SOMEBODY)
    assert statuses == dict.fromkeys(statuses, 404)


def test_what_another_project_has_is_in_no_list(installation):
    assert installation.ask("neighbour", "GET", "/stacks", project="theirs").json()["stacks"] == []
    for path, key in (
        ("/plans", "plans"),
        ("/software_configs", "software_configs"),
        ("/software_deployments", "software_deployments"),
        ("/software_deployments?server_id=server-1", "software_deployments"),
        ("/software_deployments/metadata/server-1", "metadata"),
    ):
        assert installation.ask("neighbour", "GET", path, project="theirs").json()[key] == []
    marker = installation.stack["stack_id"]
    answer = installation.ask("neighbour", "GET", f"/stacks?marker={marker}", project="theirs")
    assert answer.status_code == 404


def test_what_another_project_has_cannot_be_referred_to(installation):
    body = {"config_id": installation.stack["config_id"], "server_id": "server-2"}
    answer = installation.ask("neighbour", "POST", "/software_deployments", project="theirs", json=body)
    assert answer.status_code == 404, answer.text


def test_a_reader_changes_nothing(installation):
    statuses = installation.ask_each("auditor")
    refused = {route for route, status in statuses.items() if status == 403}
    creates = {"POST /stacks", "POST /plans", "POST /software_configs", "POST /software_deployments"}
    exports = {f"GET {url}" for _method, url in ROUTE_LIST if url.endswith("/export")}
    assert refused == CHANGES | creates | exports | {
        *("GET /services", "GET /services/work", "POST /notifications")
    }


def test_the_daemons_are_the_administrators_business(installation):
    assert installation.ask("owner", "GET", "/services").status_code == 403
    answer = installation.ask("admin", "GET", "/services")
    assert answer.status_code == 200
    assert answer.json()["services"]


def test_how_much_there_is_to_do_is_the_administrators_business(installation):
    assert installation.ask("owner", "GET", "/services/work").status_code == 403
    work = installation.ask("admin", "GET", "/services/work").json()["work"]
    assert work.keys() == {
        *("backlog", "oldest_ready", "oldest_traversal", "longest_action", "observation_lateness")
    }


def test_who_says_that_something_has_happened_is_a_service_or_an_administrator(installation):
    body = {"physical_ids": ["nothing"]}
    assert installation.ask("owner", "POST", "/notifications", json=body).status_code == 403
    answer = installation.ask("admin", "POST", "/notifications", json=body)
    assert (answer.status_code, answer.json()) == (202, {"taken_up": 0})


def test_an_administrator_acts_in_every_project(installation):
    path = f"/stacks/shop/{installation.stack['stack_id']}"
    assert installation.ask("admin", "GET", path).status_code == 200
    assert installation.ask("admin", "GET", path, project="theirs").status_code == 404
    assert installation.ask("admin", "GET", "/stacks?global_tenant=true").status_code == 403


def test_some_addresses_are_for_all(installation):
    for path, status in (("/", 300), ("/v1", 300), ("/healthcheck", 200)):
        assert requests.get(installation.endpoint + path, timeout=30).status_code == status
    answer = installation.ask(None, "OPTIONS", "/stacks")
    assert answer.status_code == 204


def test_a_refusal_reads_as_every_error_does(installation):
    for user, status in ((None, 401), ("guest", 403)):
        answer = installation.ask(user, "GET", "/stacks")
        assert answer.status_code == answer.json()["code"] == status
        assert answer.json()["error"]["message"]
        assert answer.headers["X-Openstack-Request-Id"].startswith("req-")
    assert installation.ask(None, "GET", "/stacks").headers["WWW-Authenticate"]


class TestSignedUrls:
    """The URL that a wait condition handle gives away."""

    @pytest.fixture
    def url(self, installation):
        path = f"/stacks/shop/{installation.stack['stack_id']}/outputs/endpoint"
        return installation.ask("owner", "GET", path).json()["output"]["output_value"]

    @pytest.fixture
    def unchanged(self):
        """Signals are events."""

    def test_it_is_enough(self, installation, url):
        assert (
            requests.post(url, json={"status": "SUCCESS", "id": "a", "data": "up"}, timeout=30).status_code
            == 200
        )
        path = f"/stacks/shop/{installation.stack['stack_id']}/resources/alarm/metadata"
        assert "up" in json.dumps(installation.ask("owner", "GET", path).json())

    def test_it_is_for_that_and_nothing_else(self, installation, url):
        parts = urlsplit(url)
        stack, _, resource = parts.path.removesuffix("/signal").partition("/resources/")
        for method, path, status in (
            ("POST", parts.path.replace(resource, "other"), 403),
            ("POST", parts.path.replace(installation.stack["stack_id"], "0" * 8), 403),
            ("POST", f"{stack}/actions", 401),
            ("GET", stack, 401),
            ("DELETE", stack, 401),
        ):
            asked = f"{installation.endpoint}{path}?{parts.query}"
            assert requests.request(method, asked, json={}, timeout=30).status_code == status, asked
        assert requests.post(url[:-2], json={}, timeout=30).status_code == 403
        assert requests.post(f"{url}&expires=99999999999", json={}, timeout=30).status_code == 403
