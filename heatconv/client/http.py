# SPDX-License-Identifier: Apache-2.0
"""One method per operation of the API, over HTTP.

Answers are the API's JSON without its outermost wrapper.  A *stack* is named
by name or id; its canonical URL is asked of the service where one is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import requests

from heatconv.errors import HeatconvError

Json = dict[str, Any]

_REDIRECTS = 5


class ClientError(HeatconvError):
    """What the service refused, or that it could not be asked (``status`` 0)."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class Client:
    """The API of one project: ``endpoint`` is like ``http://127.0.0.1:8004/v1/default``."""

    def __init__(self, endpoint: str, *, timeout: float = 60) -> None:
        self.endpoint = endpoint.rstrip("/")
        self._timeout = timeout
        self._session = requests.Session()

    def close(self) -> None:
        """Close the connections kept open."""
        self._session.close()

    # -- stacks ---------------------------------------------------------------------

    def create_stack(self, body: Json) -> str:
        """Start to create a stack; return its id."""
        return str(self._send("POST", "/stacks", json=body)["stack"]["id"])

    def update_stack(self, stack: str, body: Json, *, existing: bool = False) -> None:
        """Start to update a stack; ``existing`` keeps what the body does not name."""
        self._send("PATCH" if existing else "PUT", self._lookup(stack), json=body)

    def delete_stack(self, stack: str) -> None:
        """Start to delete a stack."""
        self._send("DELETE", self._lookup(stack))

    def act(self, stack: str, action: str) -> None:
        """Start an action on a stack: check, rollback, cancel_update, ..."""
        self._send("POST", f"{self._lookup(stack)}/actions", json={action: None})

    def preview_create(self, body: Json) -> Json:
        """Return the stack that the same body would create."""
        return dict(self._send("POST", "/stacks/preview", json=body)["stack"])

    def preview_update(self, stack: str, body: Json, *, existing: bool = False) -> Json:
        """Return what an update with the same body would change."""
        method = "PATCH" if existing else "PUT"
        return dict(self._send(method, f"{self.locate(stack)}/preview", json=body)["resource_changes"])

    def validate(self, body: Json) -> Json:
        """Return what a template takes."""
        return dict(self._send("POST", "/validate", json=body))

    def show_stack(self, stack: str, *, resolve_outputs: bool = True) -> Json:
        """Return a stack."""
        query = {"resolve_outputs": "true" if resolve_outputs else "false"}
        return dict(self._send("GET", self._lookup(stack), query=query)["stack"])

    def list_stacks(self, query: Mapping[str, Any]) -> Iterator[Json]:
        """Yield stacks, page by page as far as ``limit`` asks for pages."""
        page = self._send("GET", "/stacks", query=query)
        while True:
            yield from page["stacks"]
            following = [link["href"] for link in page.get("links", ()) if link["rel"] == "next"]
            if not following:
                return
            page = self._send("GET", following[0])

    def get_template(self, stack: str) -> Json:
        """Return the template of a stack."""
        return dict(self._send("GET", f"{self._lookup(stack)}/template"))

    def get_environment(self, stack: str) -> Json:
        """Return the environment of a stack."""
        return dict(self._send("GET", f"{self._lookup(stack)}/environment"))

    def get_files(self, stack: str) -> Json:
        """Return the files of a stack."""
        return dict(self._send("GET", f"{self._lookup(stack)}/files"))

    def list_outputs(self, stack: str) -> list[Json]:
        """Return the outputs of a stack without their values."""
        return list(self._send("GET", f"{self.locate(stack)}/outputs")["outputs"])

    def show_output(self, stack: str, key: str) -> Json:
        """Return one output with its value."""
        return dict(self._send("GET", f"{self.locate(stack)}/outputs/{quote(key, safe='')}")["output"])

    def show_graph(self, stack: str) -> Json:
        """Return the ``nodes`` and ``edges`` of a stack's dependency graph."""
        return dict(self._send("GET", f"{self.locate(stack)}/graph")["graph"])

    # -- resources and events ----------------------------------------------------------

    def list_resources(self, stack: str, query: Mapping[str, Any] | None = None) -> list[Json]:
        """Return the resources of a stack."""
        return list(self._send("GET", f"{self._lookup(stack)}/resources", query=query)["resources"])

    def show_resource(self, stack: str, name: str, attributes: list[str] | None = None) -> Json:
        """Return one resource, with more attributes if asked for."""
        url = f"{self.locate(stack)}/resources/{quote(name, safe='')}"
        return dict(self._send("GET", url, query={"with_attr": attributes or []})["resource"])

    def list_events(
        self, stack: str, query: Mapping[str, Any] | None = None, *, resource: str | None = None
    ) -> list[Json]:
        """Return events of a stack, or of one of its resources."""
        below = f"/resources/{quote(resource, safe='')}" if resource else ""
        return list(self._send("GET", f"{self.locate(stack)}{below}/events", query=query)["events"])

    def show_event(self, stack: str, resource: str, event_id: str) -> Json:
        """Return one event."""
        url = f"{self.locate(stack)}/resources/{quote(resource, safe='')}/events/{event_id}"
        return dict(self._send("GET", url)["event"])

    # -- the rest ------------------------------------------------------------------------

    def list_resource_types(self, query: Mapping[str, Any] | None = None) -> list[Json]:
        """Return resource types with their descriptions."""
        wanted = {**(query or {}), "with_description": "true"}
        return list(self._send("GET", "/resource_types", query=wanted)["resource_types"])

    def show_resource_type(self, type_name: str) -> Json:
        """Return the schema of a resource type."""
        return dict(self._send("GET", f"/resource_types/{quote(type_name, safe='')}"))

    def list_template_versions(self) -> list[Json]:
        """Return the versions a template may name."""
        return list(self._send("GET", "/template_versions")["template_versions"])

    def list_template_functions(self, version: str) -> list[Json]:
        """Return the functions of a template version."""
        url = f"/template_versions/{quote(version, safe='')}/functions"
        return list(self._send("GET", url)["template_functions"])

    def list_services(self) -> list[Json]:
        """Return the daemons that run, or ran."""
        return list(self._send("GET", "/services")["services"])

    def build_info(self) -> Json:
        """Return the builds of API and engine."""
        return dict(self._send("GET", "/build_info"))

    # -- HTTP -----------------------------------------------------------------------------

    def locate(self, stack: str) -> str:
        """Return the canonical URL of a stack."""
        response = self._request("GET", self._url(self._lookup(stack)))
        if "Location" not in response.headers:
            raise _error(response)
        return response.headers["Location"]

    @staticmethod
    def _lookup(stack: str) -> str:
        return f"/stacks/{quote(stack, safe='')}"

    def _url(self, path: str) -> str:
        return path if path.startswith(("http://", "https://")) else self.endpoint + path

    def _send(
        self, method: str, path: str, *, json: Json | None = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the JSON answer to a request, sent again as it is wherever a redirect leads."""
        response = self._request(method, self._url(path), json=json, query=query)
        for _ in range(_REDIRECTS):
            if response.status_code != requests.codes.found:
                break
            # The target has the query already.
            response = self._request(method, response.headers["Location"], json=json)
        if not 200 <= response.status_code < 300:
            raise _error(response)
        return _decoded(response) if response.content else None

    def _request(
        self, method: str, url: str, *, json: Json | None = None, query: Mapping[str, Any] | None = None
    ) -> requests.Response:
        try:
            return self._session.request(
                method, url, json=json, params=query, timeout=self._timeout, allow_redirects=False
            )
        except requests.RequestException as error:
            raise ClientError(0, "Unreachable", _unreachable(url, error)) from error


def _unreachable(url: str, error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return f"The service at {url} did not answer in time."
    if isinstance(error, requests.ConnectionError):
        return f"The service at {url} cannot be reached: is it running, and is the endpoint right?"
    return f"The service at {url} cannot be asked: {error}."


def _decoded(response: requests.Response) -> Any:
    try:
        return response.json()
    except requests.JSONDecodeError as error:
        sentence = f"What answers at {response.url} is no heatconv API: its answer is not JSON."
        raise ClientError(response.status_code, "NotJson", sentence) from error


def _error(response: requests.Response) -> ClientError:
    answer = _decoded(response)
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict) or "message" not in error:
        sentence = f"What answers at {response.url} is no heatconv API: it answered {response.status_code}."
        return ClientError(response.status_code, "Unexpected", sentence)
    return ClientError(response.status_code, str(error.get("type")), str(error["message"]))
