# SPDX-License-Identifier: Apache-2.0
"""A heatconv-all with the plugins of ``heat/``, which are written for Heat, their import lines changed."""

from __future__ import annotations

import itertools
import subprocess
import time
from pathlib import Path

import pytest

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud_client import CloudControl
from tests.functional.servers.one_process import fake_cloud, heatconv_all

HERE = Path(__file__).parent
PORT = HERE.parents[2] / "doc/source/howto/plugins/port.sed"
NUMBERS = itertools.count(1)
PATIENCE = 50  #: seconds; less than what a wait condition waits before it looks by itself
GONE = "gone"


def port(plugin, directory):
    """Put a plugin with its import lines changed into a directory."""
    command = ["sed", "-E", "-f", str(PORT), str(plugin)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (directory / plugin.name).write_text(text)


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """Return where heatconv is, and where its cloud is."""
    ported = tmp_path_factory.mktemp("ported")
    for plugin in (HERE / "heat").glob("*.py"):
        port(plugin, ported)
    with (
        fake_cloud(tmp_path_factory.mktemp("cloud")) as cloud,
        heatconv_all(tmp_path_factory.mktemp("heatconv"), cloud, "--plugin-dir", str(ported)) as endpoint,
    ):
        yield endpoint, cloud


class Stack:
    """One stack of the service, and what it has in the cloud."""

    def __init__(self, endpoint, cloud):
        self.name = f"ported-{next(NUMBERS)}"
        self.client = Client(endpoint)
        self.cloud = CloudControl(cloud)
        self._outputs = {}

    # -- what is asked of it -----------------------------------------------------------------

    def create(self, resources, outputs=None, *, until="CREATE_COMPLETE"):
        self._outputs = outputs or {}
        self.client.create_stack({"stack_name": self.name, **self._source(resources)})
        self.wait_for(until)

    def update(self, resources, *, until="UPDATE_COMPLETE", rollback=False):
        self.client.update_stack(self.name, self._source(resources) | {"disable_rollback": not rollback})
        self.wait_for(until)

    def act(self, action, *, until):
        self.client.act(self.name, action)
        self.wait_for(until)

    def delete(self):
        if self.state() != GONE:
            self.client.delete_stack(self.name)
            self.wait_for(GONE)

    def _source(self, resources):
        outputs = {name: {"value": value} for name, value in self._outputs.items()}
        template = {"heat_template_version": "2021-04-16", "resources": resources, "outputs": outputs}
        return {"template": template, "disable_rollback": True}

    # -- what becomes of it ------------------------------------------------------------------

    def wait_for(self, wanted):
        """Wait until the stack is in a state, and in no other that is an end."""
        deadline = time.monotonic() + PATIENCE
        while (state := self.state()) != wanted:
            assert state.endswith("IN_PROGRESS"), f"{state}: {self.reason()}"
            assert time.monotonic() < deadline, f"still {state}"
            time.sleep(0.05)

    def state(self):
        try:
            state = self.client.show_stack(self.name, resolve_outputs=False)["stack_status"]
        except ClientError as error:
            if error.status != 404:
                raise
            return GONE
        return GONE if state == "DELETE_COMPLETE" else state

    def reason(self):
        return self.client.show_stack(self.name, resolve_outputs=False)["stack_status_reason"]

    def output(self, name):
        return self.client.show_output(self.name, name)["output_value"]

    def shown(self, resource):
        return self.client.show_resource(self.name, resource)

    def events(self, resource, status=None):
        found = self.client.list_events(self.name, resource=resource)
        return [each for each in found if status in (None, each["resource_status"])]

    # -- what it has in the cloud --------------------------------------------------------------

    def things(self):
        """Return the objects of the stack."""
        return self.cloud.owned(f"{self.name}/")

    def thing(self, resource):
        """Return the one object of a resource."""
        (found,) = self.cloud.owned(f"{self.name}/{resource}")
        return found

    def operations(self):
        """Return what was done to the stack's objects, in order."""
        done = ("create", "update", "delete")
        audit = self.cloud.audit()
        return [each.op for each in audit if each.owner.startswith(f"{self.name}/") and each.op in done]


@pytest.fixture
def stack(service):
    made = Stack(*service)
    yield made
    made.cloud.stop_failing()
    made.cloud.set_latency(delete=0)
    made.delete()
    assert made.things() == []
