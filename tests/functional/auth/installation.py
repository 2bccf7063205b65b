# SPDX-License-Identifier: Apache-2.0
"""A heatconv that asks who one is, and those who ask it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import requests

from heatconv.api.routes import ROUTES

PATIENCE = 60  #: seconds until a stack has to be there

#: Every route there is, as method and URL below the project.
ROUTE_LIST = [(method, url) for url, handlers in ROUTES.items() for method in handlers]

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {"alarm": {"type": "OS::Heat::WaitConditionHandle"}},
    "outputs": {"endpoint": {"value": {"get_attr": ["alarm", "endpoint"]}}},
}


@dataclass(frozen=True)
class Installation:
    """A running heatconv, and how its users say who they are.

    Users: ``owner``, ``auditor`` (reader) and ``guest`` (a role that nothing is
    for) in the project ``mine``; ``neighbour`` in ``theirs``; ``admin``.
    """

    endpoint: str
    projects: Mapping[str, str]  #: the ids of ``mine`` and ``theirs``
    headers: Mapping[str, Mapping[str, str]]  #: by user
    session: requests.Session
    stack: dict[str, str] = field(default_factory=dict)  #: what the fields of a URL are for what ``mine`` has

    def ask(
        self, user: str | None, method: str, path: str, *, project: str = "mine", **more: Any
    ) -> requests.Response:
        """Send a request, or, if the user is None, one that does not say whose it is."""
        url = f"{self.endpoint}/v1/{self.projects[project]}{path}"
        headers = self.headers[user] if user else {}
        return self.session.request(method, url, headers=headers, timeout=30, allow_redirects=False, **more)

    def ask_each(
        self, user: str | None, project: str = "mine", routes: Sequence[tuple[str, str]] = ROUTE_LIST
    ) -> dict[str, int]:
        """Use routes with what ``mine`` has, and return the statuses."""
        return {
            f"{method} {url}": self.ask(
                user, method, self.filled(url), project=project, json=_body(method, url)
            ).status_code
            for method, url in routes
        }

    def filled(self, url: str) -> str:
        """Return a route's URL for what ``mine`` has."""
        fields = self.stack
        if "{arn_id}" in url:
            arn = f"arn:openstack:heat::{self.projects['mine']}:stacks"
            fields = {"stack_name": arn, "stack_id": fields["stack_name"], "arn_id": fields["stack_id"]}
        return re.sub(r"{(\w+)}", lambda match: fields[match[1]], url)

    def furnish(self) -> None:
        """Give ``mine`` one of everything."""
        body = {"stack_name": "shop", "template": TEMPLATE}
        stack_id = self._made("POST", "/stacks", json=body)["stack"]["id"]
        path = f"/stacks/shop/{stack_id}"
        deadline = time.monotonic() + PATIENCE
        while self._made("GET", path)["stack"]["stack_status"] != "CREATE_COMPLETE":
            assert time.monotonic() < deadline, self._made("GET", path)
            time.sleep(0.05)
        event = self._made("GET", f"{path}/resources/alarm/events")["events"][0]["id"]
        config = self._made("POST", "/software_configs", json={"name": "setup"})["software_config"]["id"]
        deployment = {"config_id": config, "server_id": "server-1"}
        deployed = self._made("POST", "/software_deployments", json=deployment)["software_deployment"]["id"]
        plan = self._made("POST", f"{path}/plans", json={"action": "delete"})["plan"]["id"]
        self.stack.update(
            plan_id=plan,
            stack_name="shop",
            stack_id=stack_id,
            resource_name="alarm",
            event_id=event,
            output_key="endpoint",
            snapshot_id="0c3f5a9e-0000-4000-8000-000000000000",
            config_id=config,
            deployment_id=deployed,
            server_id="server-1",
            type_name="OS::Heat::Value",
            version="heat_template_version.2021-04-16",
        )

    def inventory(self) -> list[Any]:
        """Return what ``mine`` has, as its owner sees it."""
        paths = ("/stacks", "/plans", "/software_configs", "/software_deployments")
        stack = f"/stacks/shop/{self.stack['stack_id']}"
        return [self._made("GET", path) for path in (*paths, stack, f"{stack}/events")]

    def _made(self, method: str, path: str, **more: Any) -> Any:
        answer = self.ask("owner", method, path, **more)
        assert answer.ok, f"{method} {path}: {answer.text}"
        return answer.json()


def _body(method: str, url: str) -> Any:
    if url.endswith("/actions"):
        return {"check": None}
    return None if method in ("GET", "DELETE") else {}
