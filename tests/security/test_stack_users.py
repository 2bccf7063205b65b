# SPDX-License-Identifier: Apache-2.0
"""An attacker took over one server, and by what that has in hand all servers of its project.

The role that a server logs in with, ``heat_stack_user``, could list, create,
change and delete any deployment of the project.
"""

from __future__ import annotations

import re

from tests.functional.auth.installation import ROUTE_LIST

STACK = "/stacks/{stack_name}/{stack_id}"

#: What the role is for; beside these it may look up where a stack is that it knows by name.
MAY = {
    f"GET {STACK}/resources/{{resource_name}}/metadata",
    f"POST {STACK}/resources/{{resource_name}}/signal",
    f"PUT {STACK}/resources/{{resource_name}}/signal",
    "GET /software_deployments/metadata/{server_id}",
}


def is_lookup(route):
    url = route.partition(" ")[2]
    return re.fullmatch(r"/stacks/{stack_name}(/[a-z]+|/{stack_id}/{arn_id})?", url) is not None


def test_a_server_may_read_what_is_for_it_and_signal_and_nothing_else(by_password):
    statuses = by_password.ask_each("server")

    assert {route for route, status in statuses.items() if status != 403 and not is_lookup(route)} == MAY
    assert {statuses[route] for route in MAY} == {200}
    assert len(statuses) == len(ROUTE_LIST)


def test_a_server_that_was_taken_over_has_no_other_run_anything(by_password):
    deployment = by_password.stack["deployment_id"]
    config = by_password.stack["config_id"]
    path = "/software_deployments"
    before = by_password.inventory()
    for method, url, body in (
        ("POST", path, {"config_id": config, "server_id": "another-server"}),
        ("PUT", f"{path}/{deployment}", {"config_id": config, "status": "IN_PROGRESS"}),
        ("DELETE", f"{path}/{deployment}", None),
        ("GET", path, None),
        ("GET", f"{path}/{deployment}", None),
    ):
        answer = by_password.ask("server", method, url, json=body)
        assert answer.status_code == 403, f"{method} {url}: {answer.text}"

    assert by_password.inventory() == before
    metadata = by_password.ask("server", "GET", f"{path}/metadata/server-1").json()
    assert [each["id"] for each in metadata["metadata"]] == [config]
