# SPDX-License-Identifier: Apache-2.0
"""Stacks in stacks, driven by REST, and the objects that they make in the fake cloud."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud_client import CloudControl

Json = dict[str, Any]

VERSION = "2021-04-16"
SERVER = "Fake::Cloud::Server"
TICK = 0.02
_NUMBERS = itertools.count(1)


class Tree:
    """A stack with those nested in it."""

    def __init__(self, endpoint: str, cloud_url: str) -> None:
        self.name = f"tree-{next(_NUMBERS)}"
        self.client = Client(endpoint)
        self.cloud = CloudControl(cloud_url)
        self._begun = len(self.cloud.audit())

    def close(self) -> None:
        self.cloud.release()
        self.cloud.stop_failing()
        if self.state() is not None:
            self.client.delete_stack(self.name)
            self.await_state(None)
        self.client.close()
        self.cloud.cloud.close()

    # -- what a user asks for ----------------------------------------------------------------

    def create(self, resources: Json, **body: Any) -> None:
        self.begin(resources, **body)
        self.await_state("CREATE_COMPLETE")

    def begin(self, resources: Json, *, outputs: Json | None = None, **body: Any) -> None:
        template = hot(resources, outputs)
        self.client.create_stack({"stack_name": self.name, "template": template, **body})

    def update(self, resources: Json, *, outputs: Json | None = None, **body: Any) -> None:
        self.client.update_stack(self.name, {"template": hot(resources, outputs), **body})
        self.await_state("UPDATE_COMPLETE")

    # -- what became of it -------------------------------------------------------------------

    def state(self) -> str | None:
        try:
            return str(self.client.show_stack(self.name, resolve_outputs=False)["stack_status"])
        except ClientError as error:
            if error.status != 404:
                raise
            return None

    def await_state(self, wanted: str | None) -> None:
        while (now := self.state()) != wanted:
            if now is not None and now.endswith("_FAILED"):
                pytest.fail(self.client.show_stack(self.name)["stack_status_reason"])
            time.sleep(TICK)

    def await_failure(self, wanted: str) -> None:
        while self.state() != wanted:
            time.sleep(TICK)

    def await_resource(self, stack: str, name: str, wanted: str) -> None:
        """Wait for a resource to be there, and in a state."""
        states: dict[str, str] = {}
        while states.get(name) != wanted:
            states = {
                each["resource_name"]: each["resource_status"] for each in self.client.list_resources(stack)
            }

    def outputs(self) -> Json:
        shown = self.client.show_stack(self.name)
        return {each["output_key"]: each["output_value"] for each in shown["outputs"]}

    def values(self) -> list[str]:
        """Return the values of the objects there are."""
        return sorted(found["properties"]["value"] for found in self.owned())

    def owned(self) -> list[Json]:
        return [found for found in self.cloud.owned() if found["owner"].startswith(self.name)]

    def calls(self) -> list[str]:
        """Return what the cloud was asked to change since the last time, in order."""
        since, self._begun = self._begun, len(self.cloud.audit())
        return [
            f"{entry.op} {entry.owner.rpartition('/')[2]}"
            for entry in self.cloud.audit(since)
            if entry.owner.startswith(self.name) and entry.op in ("create", "update", "delete")
        ]

    def nested(self, name: str) -> str:
        """Return the id of the stack that a resource owns."""
        return str(self.client.show_resource(self.name, name)["physical_resource_id"])

    def nested_state(self, name: str) -> str:
        return str(self.client.show_stack(self.nested(name))["stack_status"])


def hot(resources: Json, outputs: Json | None = None, parameters: Json | None = None) -> Json:
    template: Json = {"heat_template_version": VERSION, "resources": resources}
    return (
        template
        | ({"outputs": outputs} if outputs else {})
        | ({"parameters": parameters} if parameters else {})
    )


def server(value: Any, **more: Any) -> Json:
    return {"type": SERVER, "properties": {"value": value, **more}}


@pytest.fixture
def tree(endpoint: str, cloud_url: str) -> Iterator[Tree]:
    made = Tree(endpoint, cloud_url)
    yield made
    made.close()
