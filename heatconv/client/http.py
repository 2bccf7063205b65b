# SPDX-License-Identifier: Apache-2.0
"""One method per operation of the API, over HTTP.

Answers are the API's JSON without its outermost wrapper.  A *stack* is told by
its name, its id or both as NAME/ID; only with both nobody has to be asked for
its canonical URL, where that is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from heatconv.client.transport import ClientError, Json, Transport

__all__ = ["Client", "ClientError", "Json"]


PAGE = 1000  #: resources of a plan that are asked for at once


def _next(page: Json) -> str | None:
    """Return the URL of the page after one; None: it is the last."""
    return next((link["href"] for link in page.get("links", ()) if link["rel"] == "next"), None)


class Client(Transport):
    """The API of one project."""

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
        """Start an action on a stack: check, suspend, rollback, cancel_update, ..."""
        self._send("POST", f"{self._lookup(stack)}/actions", json={action: None})

    def observe(self, stack: str, resource: str | None = None) -> Json:
        """Have what a stack, or one resource, really is looked at; return what has drifted."""
        return dict(
            self._send("POST", f"{self._part(stack, resource)}/actions", json={"observe": None})["drift"]
        )

    def converge(self, stack: str, resource: str | None = None) -> None:
        """Start to put right what has drifted in a stack, or one resource."""
        self._send("POST", f"{self._part(stack, resource)}/actions", json={"converge": None})

    def show_drift(self, stack: str, resource: str | None = None) -> Json:
        """Return what is known to have drifted in a stack, or of one resource."""
        return dict(self._send("GET", f"{self._part(stack, resource)}/drift")["drift"])

    def note_change(self, physical_ids: Sequence[str], *, all_projects: bool = False) -> int:
        """Have things looked at soon that something has happened to; return how many are known.

        Those of the project's stacks, or of all projects'.
        """
        query = {"global_tenant": "true"} if all_projects else None
        body = {"physical_ids": list(physical_ids)}
        return int(self._send("POST", "/notifications", json=body, query=query)["taken_up"])

    def _part(self, stack: str, resource: str | None) -> str:
        return self.locate(stack) if resource is None else self._resource(stack, resource)

    def abandon_stack(self, stack: str) -> Json:
        """Forget a stack and leave its resources alone; return what it takes to adopt them."""
        return dict(self._send("DELETE", f"{self.locate(stack)}/abandon"))

    def export_stack(self, stack: str) -> Json:
        """Return what ``abandon_stack`` would, and change nothing."""
        return dict(self._send("GET", f"{self.locate(stack)}/export"))

    def preview_create(self, body: Json) -> Json:
        """Return the stack that the same body would create."""
        return dict(self._send("POST", "/stacks/preview", json=body)["stack"])

    def preview_update(
        self, stack: str, body: Json, *, existing: bool = False, show_nested: bool = False
    ) -> Json:
        """Return what an update with the same body would change, in the nested stacks too if asked for."""
        method, query = "PATCH" if existing else "PUT", {"show_nested": "true"} if show_nested else None
        url = f"{self.locate(stack)}/preview"
        return dict(self._send(method, url, json=body, query=query)["resource_changes"])

    def validate(self, body: Json, *, show_nested: bool = False) -> Json:
        """Return what a template takes, and those nested in it if asked for."""
        query = {"show_nested": "true"} if show_nested else None
        return dict(self._send("POST", "/validate", json=body, query=query))

    def show_stack(self, stack: str, *, resolve_outputs: bool = True) -> Json:
        """Return a stack."""
        query = {"resolve_outputs": "true" if resolve_outputs else "false"}
        return dict(self._send("GET", self._lookup(stack), query=query)["stack"])

    def list_stacks(self, query: Mapping[str, Any]) -> Iterator[Json]:
        """Yield stacks, page by page as far as ``limit`` asks for pages."""
        page = self._send("GET", "/stacks", query=query)
        while True:
            yield from page["stacks"]
            following = _next(page)
            if following is None:
                return
            page = self._send("GET", following)

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

    def explain_stack(self, stack: str) -> Json:
        """Return what a stack waits for, or why it failed."""
        return dict(self._send("GET", f"{self.locate(stack)}/explanation")["explanation"])

    def show_graph(self, stack: str) -> Json:
        """Return the ``nodes`` and ``edges`` of a stack's dependency graph."""
        return dict(self._send("GET", f"{self.locate(stack)}/graph")["graph"])

    # -- plans ---------------------------------------------------------------------------

    def plan_create(self, body: Json, *, each: Callable[[Json], None] | None = None) -> Json:
        """Return a plan of what ``create_stack`` with the same body would do; see ``show_plan``."""
        return self._plan("POST", "/plans", each, json=body)

    def plan_change(self, stack: str, body: Json, *, each: Callable[[Json], None] | None = None) -> Json:
        """Return a plan of the body's ``action`` on a stack, an update if it has none; see ``show_plan``."""
        return self._plan("POST", f"{self.locate(stack)}/plans", each, json=body)

    def show_plan(self, plan: str, *, each: Callable[[Json], None] | None = None) -> Json:
        """Return a plan, read page by page.

        With ``each`` that gets the resources, one after another as they arrive, and the plan has none.
        """
        return self._plan("GET", self._plan_url(plan), each, query={"limit": PAGE})

    def look_at_plan(self, plan: str) -> Json:
        """Return a plan without its resources."""
        found = self._send("GET", self._plan_url(plan), query={"limit": 1})["plan"]
        return {key: value for key, value in found.items() if key != "resources"}

    def _plan(self, method: str, url: str, each: Callable[[Json], None] | None, **sent: Any) -> Json:
        kept: list[Json] = []
        within = ("plan", "resources")
        plan = dict(self._send_for_list(method, url, within, each or kept.append, **sent)["plan"])
        following = _next(plan)
        plan["links"] = [link for link in plan["links"] if link["rel"] != "next"]
        while following:
            following = _next(self._send_for_list("GET", following, within, each or kept.append)["plan"])
        return plan if each else plan | {"resources": kept}

    def list_plans(self, query: Mapping[str, Any] | None = None, *, stack: str | None = None) -> list[Json]:
        """Return plans, those of a stack or all, without their resources, the newest first.

        With ``limit`` in the query that is one page, else all there are.
        """
        of = self.locate(stack) if stack else ""
        page = self._send("GET", f"{of}/plans", query=query)
        found = list(page["plans"])
        while not (query or {}).get("limit") and (following := _next(page)):
            page = self._send("GET", following)
            found += page["plans"]
        return found

    def apply_plan(self, plan: str) -> str:
        """Start to do what a plan says; return the id of its stack."""
        return str(self._send("POST", f"{self._plan_url(plan)}/apply")["stack"]["id"])

    def delete_plan(self, plan: str) -> None:
        """Forget a plan."""
        self._send("DELETE", self._plan_url(plan))

    @staticmethod
    def _plan_url(plan: str) -> str:
        if not plan:
            raise ClientError(400, "BadRequest", "There is no plan without an id: name one.")
        return f"/plans/{quote(plan, safe='')}"

    # -- snapshots -----------------------------------------------------------------------

    def create_snapshot(self, stack: str, name: str | None = None) -> Json:
        """Start to take a snapshot of a stack."""
        body = {} if name is None else {"name": name}
        return dict(self._send("POST", f"{self.locate(stack)}/snapshots", json=body))

    def list_snapshots(self, stack: str) -> list[Json]:
        """Return the snapshots of a stack."""
        return list(self._send("GET", f"{self.locate(stack)}/snapshots")["snapshots"])

    def show_snapshot(self, stack: str, snapshot: str) -> Json:
        """Return one snapshot with what it holds."""
        return dict(self._send("GET", self._snapshot(stack, snapshot))["snapshot"])

    def delete_snapshot(self, stack: str, snapshot: str) -> None:
        """Delete a snapshot."""
        self._send("DELETE", self._snapshot(stack, snapshot))

    def restore_snapshot(self, stack: str, snapshot: str) -> None:
        """Start to bring a stack back to where it was when a snapshot was taken."""
        self._send("POST", f"{self._snapshot(stack, snapshot)}/restore")

    def _snapshot(self, stack: str, snapshot: str) -> str:
        return f"{self.locate(stack)}/snapshots/{quote(snapshot, safe='')}"

    # -- resources and events ----------------------------------------------------------

    def list_resources(self, stack: str, query: Mapping[str, Any] | None = None) -> list[Json]:
        """Return the resources of a stack."""
        return list(self._send("GET", f"{self._lookup(stack)}/resources", query=query)["resources"])

    def show_resource(self, stack: str, name: str, attributes: list[str] | None = None) -> Json:
        """Return one resource, with more attributes if asked for."""
        url = self._resource(stack, name)
        return dict(self._send("GET", url, query={"with_attr": attributes or []})["resource"])

    def show_metadata(self, stack: str, name: str) -> Json:
        """Return the metadata of a resource."""
        return dict(self._send("GET", f"{self._resource(stack, name)}/metadata")["metadata"])

    def signal_resource(self, stack: str, name: str, details: Json) -> None:
        """Tell a resource something; ``{"unset_hook": "pre-create"}`` clears one of its hooks."""
        self._send("POST", f"{self._resource(stack, name)}/signal", json=details)

    def mark_resource(self, stack: str, name: str, *, unhealthy: bool, reason: str) -> None:
        """Have the next update replace a resource, or have it left alone again."""
        body = {"mark_unhealthy": unhealthy, "resource_status_reason": reason}
        self._send("PATCH", self._resource(stack, name), json=body)

    def _resource(self, stack: str, name: str) -> str:
        return f"{self.locate(stack)}/resources/{quote(name, safe='')}"

    def list_events(
        self, stack: str, query: Mapping[str, Any] | None = None, *, resource: str | None = None
    ) -> list[Json]:
        """Return events of a stack, or of one of its resources."""
        of = self._resource(stack, resource) if resource else self.locate(stack)
        return list(self._send("GET", f"{of}/events", query=query)["events"])

    def list_changes(self, place: str, since: str | None = None, *, wait: float = 0) -> Json | None:
        """Return what is new in a stack, without those nested in it, as soon as there is something.

        Args:
            place: the stack's canonical URL.
            since: the cursor of the answer before; without one the answer is nothing but a cursor.
            wait: seconds that the service may take while there is nothing.

        None: the stack is gone, or the service cannot tell what is new, as Heat cannot.
        """
        query = {"nested": "false", **({"since": since, "wait": round(wait)} if since else {})}
        found = self._look(f"{place}/changes", query, wait=wait)
        return None if found is None else dict(found["changes"])

    def show_event(self, stack: str, resource: str, event_id: str) -> Json:
        """Return one event."""
        return dict(self._send("GET", f"{self._resource(stack, resource)}/events/{event_id}")["event"])

    # -- software configs and deployments ------------------------------------------------

    def list_software_configs(self, query: Mapping[str, Any] | None = None) -> list[Json]:
        """Return software configs without what is in them, the newest first."""
        return list(self._send("GET", "/software_configs", query=query)["software_configs"])

    def create_software_config(self, body: Json) -> Json:
        """Store a software config."""
        return dict(self._send("POST", "/software_configs", json=body)["software_config"])

    def show_software_config(self, config: str) -> Json:
        """Return one software config."""
        return dict(self._send("GET", f"/software_configs/{quote(config, safe='')}")["software_config"])

    def delete_software_config(self, config: str) -> None:
        """Delete a software config that is not deployed."""
        self._send("DELETE", f"/software_configs/{quote(config, safe='')}")

    def list_software_deployments(self, query: Mapping[str, Any] | None = None) -> list[Json]:
        """Return software deployments, the oldest first."""
        return list(self._send("GET", "/software_deployments", query=query)["software_deployments"])

    def list_deployed_configs(self, server: str) -> list[Json]:
        """Return the software configs that a server is to have, by name."""
        url = f"/software_deployments/metadata/{quote(server, safe='')}"
        return list(self._send("GET", url)["metadata"])

    def create_software_deployment(self, body: Json) -> Json:
        """Deploy a software config on a server."""
        return dict(self._send("POST", "/software_deployments", json=body)["software_deployment"])

    def show_software_deployment(self, deployment: str) -> Json:
        """Return one software deployment."""
        return dict(self._send("GET", self._deployment(deployment))["software_deployment"])

    def update_software_deployment(self, deployment: str, body: Json) -> Json:
        """Change what the body names of a software deployment."""
        return dict(self._send("PUT", self._deployment(deployment), json=body)["software_deployment"])

    def delete_software_deployment(self, deployment: str) -> None:
        """Delete a software deployment."""
        self._send("DELETE", self._deployment(deployment))

    @staticmethod
    def _deployment(deployment: str) -> str:
        return f"/software_deployments/{quote(deployment, safe='')}"

    # -- the rest ------------------------------------------------------------------------

    def list_resource_types(self, query: Mapping[str, Any] | None = None) -> list[Json]:
        """Return resource types with their descriptions."""
        wanted = {**(query or {}), "with_description": "true"}
        return list(self._send("GET", "/resource_types", query=wanted)["resource_types"])

    def show_resource_type(self, type_name: str) -> Json:
        """Return the schema of a resource type."""
        return dict(self._send("GET", f"/resource_types/{quote(type_name, safe='')}"))

    def get_type_template(self, type_name: str, template_type: str) -> Json:
        """Return a template (``hot`` or ``cfn``) that passes on all that a resource type takes and gives."""
        url = f"/resource_types/{quote(type_name, safe='')}/template"
        return dict(self._send("GET", url, query={"template_type": template_type}))

    def list_template_versions(self) -> list[Json]:
        """Return the versions a template may name."""
        return list(self._send("GET", "/template_versions")["template_versions"])

    def list_template_functions(self, version: str, *, with_conditions: bool = False) -> list[Json]:
        """Return the functions of a template version, those of conditions too if asked for."""
        url = f"/template_versions/{quote(version, safe='')}/functions"
        query = {"with_condition_func": str(with_conditions).lower()}
        return list(self._send("GET", url, query=query)["template_functions"])

    def list_services(self) -> list[Json]:
        """Return the daemons that run, or ran."""
        return list(self._send("GET", "/services")["services"])

    def show_work(self) -> Json:
        """Return how much there is to do in all projects, and how late the oldest of it is, in seconds."""
        return dict(self._send("GET", "/services/work")["work"])

    def permissions(self) -> list[str]:
        """Return the names of the policy's rules that let this client do what they are for."""
        return list(self._send("GET", "/permissions")["permissions"])

    def build_info(self) -> Json:
        """Return the builds of API and engine."""
        return dict(self._send("GET", "/build_info"))
