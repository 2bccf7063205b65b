# SPDX-License-Identifier: Apache-2.0
"""Situations in which somebody asks why a stack is not done, and what the answer has to name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta

import pytest

from heatconv.client.http import Client
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import PORTED, Template, thing
from tests.functional.waiting import until

LONG = 600.0  #: seconds of an operation that does not end while a test looks


class Asking:
    """A user of a heatconv whose stacks stand still."""

    def __init__(self, endpoint: str, cloud_url: str, until_end: ExitStack) -> None:
        self.client = Client(endpoint)
        self.cloud = CloudControl(cloud_url)
        until_end.callback(self.client.close)
        until_end.callback(self.cloud.cloud.close)
        until_end.callback(self.cloud.stop_failing)
        self._until_end = until_end

    def create(self, name, template, **more):
        hot = template.hot() if isinstance(template, Template) else template
        self.client.create_stack({"stack_name": name, "template": hot, **more})
        self._until_end.callback(self.client.delete_stack, name)

    def explain(self, name, cause, path):
        """Return what a resource waits for, once that is the first wait of a stack and has a cause."""

        def look():
            waits = self.client.explain_stack(name)["waits"]
            return waits and (waits[0]["cause"], waits[0]["path"]) == (cause, path) and waits[0]

        return until(look, lambda: self.client.explain_stack(name))

    def ended(self, name, state):
        """Return the explanation of a stack, once that is in a state."""

        def look():
            explanation = self.client.explain_stack(name)
            return explanation["stack_status"] == state and explanation

        return until(look, lambda: self.client.explain_stack(name))


@pytest.fixture
def asking(endpoint: str, cloud_url: str) -> Iterator[Asking]:
    with ExitStack() as until_end:
        yield Asking(endpoint, cloud_url, until_end)


def resource(kind, **properties):
    return {"type": kind, "properties": properties}


def stack_of(**resources):
    return {"heat_template_version": "2021-04-16", "resources": resources}


def hooks(**of):
    return {"resource_registry": {"resources": {name: {"hooks": hook} for name, hook in of.items()}}}


def test_a_service_at_work(asking):
    asking.create("at_work", Template(A=thing("a"), B=thing("b", uses=["A"], wait=LONG)))
    wait = asking.explain("at_work", "SERVICE", "B")
    assert (wait["resource_type"], wait["action"]) == ("Fake::Cloud::Server", "CREATE")
    made = next(each for each in asking.cloud.owned("at_work/") if each["owner"] == "at_work/B")
    assert made["id"] in wait["sentence"]
    assert wait["worker"]


def test_a_breakpoint_before_a_creation(asking):
    asking.create(
        "paused", Template(A=thing("a"), B=thing("b", uses=["A"])), environment=hooks(B="pre-create")
    )
    wait = asking.explain("paused", "BREAKPOINT", "B")
    assert "pre-create" in wait["sentence"]
    assert wait["hook"] == "pre-create"
    asking.client.signal_resource("paused", "B", {"unset_hook": "pre-create"})
    assert "nothing of it is under way" in asking.ended("paused", "CREATE_COMPLETE")["sentence"]


def test_a_breakpoint_before_an_update(asking):
    asking.create("paused_later", Template(A=thing("a")))
    asking.ended("paused_later", "CREATE_COMPLETE")
    changed = Template(A=thing("b")).hot()
    asking.client.update_stack("paused_later", {"template": changed, "environment": hooks(A="pre-update")})
    wait = asking.explain("paused_later", "BREAKPOINT", "A")
    assert wait["action"] == "UPDATE"


def test_signals_that_do_not_come(asking):
    handle = {"type": "OS::Heat::WaitConditionHandle"}
    condition = resource("OS::Heat::WaitCondition", handle={"get_resource": "H"}, timeout=3000, count=3)
    asking.create("unsignalled", stack_of(H=handle, C=condition))
    wait = asking.explain("unsignalled", "SIGNALS", "C")
    assert re.search(r"signals to its handle \(3 in all, until 20\d\d-\S+Z\)", wait["sentence"])


def test_a_server_that_does_not_answer(asking):
    config = resource("OS::Heat::SoftwareConfig", config="echo")
    deployment = resource("OS::Heat::SoftwareDeployment", config={"get_resource": "S"}, server="a-server")
    asking.create("undeployed", stack_of(S=config, D=deployment))
    wait = asking.explain("undeployed", "SIGNALS", "D")
    assert "the answer of its server" in wait["sentence"]


def test_a_service_that_refuses_and_may_relent(asking):
    asking.cloud.fail(FailureRule(op="create", owner="refused/A", status=503, times=None))
    asking.create("refused", Template(A=thing("a", type=PORTED)))
    wait = asking.explain("refused", "RETRY", "A")
    assert "503" in wait["sentence"]


def test_something_in_use_that_is_to_be_deleted(asking):
    asking.create("in_use", Template(A=thing("a", type=PORTED)))
    asking.ended("in_use", "CREATE_COMPLETE")
    used = asking.cloud.owned("in_use/")[0]["id"]
    foreign = asking.cloud.cloud.create(
        "a-foreign-object", "Fake::Cloud::Server", "nobody/X", {"uses": [used]}
    )
    try:
        asking.client.delete_stack("in_use")
        wait = asking.explain("in_use", "RETRY", "A")
        assert wait["action"] == "DELETE"
        assert "a-foreign-object" in wait["sentence"]
    finally:
        asking.cloud.cloud.delete(foreign["id"])


def test_an_action_of_an_older_template(asking):
    asking.create("overtaken", Template(A=thing("a", wait=LONG)))
    asking.explain("overtaken", "SERVICE", "A")
    asking.client.update_stack("overtaken", {"template": Template(A=thing("b", wait=LONG)).hot()})
    wait = asking.explain("overtaken", "OLDER_TEMPLATE", "A")
    assert "create" in wait["sentence"]


INNER = stack_of(A=resource("Fake::Cloud::Server", value="a"))
OUTER = stack_of(inner={"type": "inner.yaml"})


def files(**of):
    return {f"{name}.yaml": json.dumps(template) for name, template in of.items()}


def test_what_a_stack_in_a_stack_in_a_stack_waits_for(asking):
    asking.create(
        "deep",
        stack_of(outer={"type": "outer.yaml"}),
        files=files(outer=OUTER, inner=INNER),
        environment={
            "resource_registry": {"resources": {"outer": {"inner": {"A": {"hooks": "pre-create"}}}}}
        },
    )
    assert asking.explain("deep", "BREAKPOINT", "outer.inner.A")["names"] == ["outer", "inner", "A"]


def test_a_name_with_a_dot(asking):
    asking.create("dotted", Template(**{"db.primary": thing("a", wait=LONG)}))
    assert asking.explain("dotted", "SERVICE", "db.primary")["names"] == ["db.primary"]


def test_a_member_of_a_group(asking):
    member = resource(PORTED, value="member_%index%")
    asking.cloud.fail(FailureRule(op="create", owner="grouped-*", status=503, times=None))
    asking.create("grouped", stack_of(G=resource("OS::Heat::ResourceGroup", count=1, resource_def=member)))
    assert "503" in asking.explain("grouped", "RETRY", "G.0")["sentence"]


def test_why_it_failed_deep_inside(asking):
    asking.cloud.fail(FailureRule(op="create", owner="*/A", status=400, times=1))
    asking.create("failed", stack_of(outer={"type": "outer.yaml"}), files=files(outer=OUTER, inner=INNER))
    explanation = asking.ended("failed", "CREATE_FAILED")
    (failure,) = explanation["failures"]
    assert (failure["path"], failure["names"]) == ("outer.inner.A", ["outer", "inner", "A"])
    assert "400" in failure["reason"]
    assert explanation["waits"] == []


def test_when_it_times_out(asking):
    asking.create("late", Template(A=thing("a", wait=LONG)), timeout_mins=30)
    asking.explain("late", "SERVICE", "A")
    explanation = asking.client.explain_stack("late")
    begun = datetime.fromisoformat(asking.client.show_stack("late")["creation_time"])
    assert datetime.fromisoformat(explanation["deadline"]) - begun == timedelta(minutes=30)


def test_what_was_stopped_by_its_user(asking):
    asking.create("stopped", Template(A=thing("a", wait=LONG)))
    asking.explain("stopped", "SERVICE", "A")
    asking.client.act("stopped", "cancel_without_rollback")
    assert "stopped" in asking.ended("stopped", "CREATE_FAILED")["sentence"]
