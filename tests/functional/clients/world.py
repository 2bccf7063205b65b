# SPDX-License-Identifier: Apache-2.0
"""What a client is driven against: a running service, and stacks in it.

``World.control`` is heatconv's own client.  It prepares what a story is about and
tells afterwards what has become of it, so that no client under test vouches for
itself.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from heatconv.client.http import Client, Json

TINY = """\
heat_template_version: 2018-08-31
description: As small as it can be.
parameters:
  size: {type: string, default: small}
resources:
  thing:
    type: OS::Heat::TestResource
    metadata: {colour: green}
    properties: {value: {get_param: size}}
outputs:
  size: {description: How large it is., value: {get_attr: [thing, output]}}
"""
#: The same with something more, which takes an hour to come.
AND_MORE = TINY.replace(
    "outputs:",
    "  more: {type: OS::Heat::TestResource, properties: {action_wait_secs: {create: 3600}}}\noutputs:",
)
#: A stack that fails.
BROKEN = """\
heat_template_version: 2018-08-31
resources:
  thing: {type: OS::Heat::TestResource, properties: {fail: true}}
"""
#: A stack that is not complete before somebody sends a signal.
WAITING = """\
heat_template_version: 2018-08-31
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  wait: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 600}}
outputs:
  data: {value: {get_attr: [wait, data]}}
"""
FILES = {"run.sh": "echo Hello\n"}
CONFIG: Json = {"group": "script", "config": "echo $word", "inputs": [{"name": "word"}]}


@dataclass(frozen=True)
class Stack:
    """A stack that was made for a story."""

    name: str
    id: str

    @property
    def path(self) -> str:
        """What the clients call its identifier."""
        return f"{self.name}/{self.id}"


class World:
    """A running service at ``endpoint``, and files for the clients of it."""

    def __init__(self, endpoint: str, directory: Path) -> None:
        self.endpoint = endpoint
        self.control = Client(endpoint)
        self.template_file = str(directory / "tiny.yaml")
        self.environment_file = str(directory / "large.yaml")
        Path(self.template_file).write_text(TINY)
        Path(self.environment_file).write_text("parameters: {size: large}")

    @cached_property
    def web(self) -> Stack:
        """A complete stack to look at, the same for all who ask."""
        return self.stack(files=FILES, tags="web,shared", environment={"parameters": {"size": "medium"}})

    @staticmethod
    def name() -> str:
        """Return a name that nothing has yet."""
        return f"story-{secrets.token_hex(4)}"

    def start(self, template: str = TINY, **body: Any) -> Stack:
        """Begin to create a stack."""
        name = self.name()
        return Stack(name, self.control.create_stack({"stack_name": name, "template": template, **body}))

    def stack(self, template: str = TINY, **body: Any) -> Stack:
        """Return a new stack that has come to an end."""
        stack = self.start(template, **body)
        self.settled(stack)
        return stack

    def updating(self) -> Stack:
        """Return a stack in the middle of an update that takes an hour."""
        stack = self.stack()
        self.control.update_stack(stack.id, {"template": AND_MORE, "parameters": {"size": "large"}})
        self.await_event(stack, "more", "state changed", status="CREATE_IN_PROGRESS")
        return stack

    def held_up(self) -> Stack:
        """Return a stack that waits at a hook of its only resource."""
        hooks = {"resource_registry": {"resources": {"thing": {"hooks": "pre-create"}}}}
        stack = self.start(environment=hooks)
        self.await_event(stack, "thing", "CREATE paused until Hook pre-create is cleared")
        return stack

    def config(self) -> str:
        """Return the id of a new software config."""
        return str(self.control.create_software_config({"name": self.name(), **CONFIG})["id"])

    def deployment(self, server: str | None = None) -> str:
        """Return the id of a new deployment, of a server that may be made up."""
        body = {
            "config_id": self.config(),
            "server_id": server or self.name(),
            "action": "CREATE",
            "status": "IN_PROGRESS",
        }
        return str(self.control.create_software_deployment(body)["id"])

    def status(self, stack: Stack) -> str:
        """Return where a stack has come to, once nothing is in progress."""
        return str(self.settled(stack)["stack_status"])

    def output(self, stack: Stack, key: str = "size") -> Any:
        """Return the value of an output."""
        return self.control.show_output(stack.id, key)["output_value"]

    def settled(self, stack: Stack) -> Json:
        """Return a stack once nothing is in progress."""
        while True:
            shown = self.control.show_stack(stack.id)
            if not shown["stack_status"].endswith("IN_PROGRESS"):
                return shown
            time.sleep(0.05)

    def await_event(self, stack: Stack, resource: str, reason: str, *, status: str | None = None) -> None:
        """Return once something has been said of a resource."""
        while not any(
            (event["resource_name"], event["resource_status_reason"]) == (resource, reason)
            and status in {None, event["resource_status"]}
            for event in self.control.list_events(stack.id)
        ):
            time.sleep(0.05)

    def find(self, name: str) -> Stack:
        """Return the stack of a name."""
        return Stack(name, self.control.show_stack(name, resolve_outputs=False)["id"])

    def snapshot(self) -> tuple[Stack, str]:
        """Return a new stack and the id of a snapshot of it."""
        stack = self.stack()
        made = self.control.create_snapshot(stack.id, "first")
        self.settled(stack)
        return stack, made["id"]

    def deployed(self, deployment: str, outputs: Json) -> None:
        """Let a server say that it has carried a deployment out."""
        body = {"status": "COMPLETE", "output_values": outputs}
        self.control.update_software_deployment(deployment, body)
