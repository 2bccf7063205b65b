# SPDX-License-Identifier: Apache-2.0
"""A template said how long the threads of an engine were to sleep.

``OS::Heat::TestResource`` slept where it was validated and where its attribute was
read: sixteen previews with ``constraint_prop_secs`` stalled every list.  One that waited
for thousands of years ended the thread that wakes all others that wait.  And a stack
that named a client that nobody has could be created, not deleted.
"""

from __future__ import annotations

import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.security.attacked import attacked

MANY = 40  # more than an engine or an API has threads
PLUGIN = """
    from heatconv.resources import properties, resource


    class NeverMade(resource.Resource):
        properties_schema = {"made": properties.Schema(properties.Schema.BOOLEAN, default=False)}

        def handle_create(self):
            if self.properties["made"]:
                self.resource_id_set("made")
            raise ValueError("it cannot be made")

        def handle_delete(self):
            raise ValueError("it cannot be deleted")


    class Unknown(NeverMade):
        def find_existing(self):
            raise ValueError("nobody can tell")


    def resource_mapping():
        return {"Test::NeverMade": NeverMade, "Test::Unknown": Unknown}
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    plugins = tmp_path_factory.mktemp("plugins")
    (plugins / "never_made.py").write_text(textwrap.dedent(PLUGIN))
    with attacked(tmp_path_factory.mktemp("threads"), plugins=plugins) as running:
        yield running


def hot(type_, properties, **sections):
    resources = {"R": {"type": type_, "properties": properties}}
    return {"heat_template_version": "2021-04-16", "resources": resources, **sections}


def slow(**properties):
    outputs = {"o": {"value": {"get_attr": ["R", "output"]}}}
    return hot("OS::Heat::TestResource", properties, outputs=outputs)


@pytest.mark.parametrize("name", ["constraint_prop_secs", "attr_wait_secs"])
def test_previews_hold_nobody_up(service, name):
    with ThreadPoolExecutor(MANY) as pool:
        answers = list(pool.map(lambda _: service.preview(slow(**{name: 60})), range(MANY)))

    assert {answer.status_code for answer in answers} == {200}
    service.assert_well()


def test_a_parameter_s_constraint_holds_nobody_up(service):
    constraint = {"type": "number", "constraints": [{"custom_constraint": "test_constr"}], "default": 60}
    template = {"heat_template_version": "2021-04-16", "parameters": {"p": constraint}}

    with ThreadPoolExecutor(MANY) as pool:
        answers = list(pool.map(lambda _: service.preview(template), range(MANY)))

    assert {answer.status_code for answer in answers} == {200}
    service.assert_well()


def test_reading_outputs_holds_nobody_up(service):
    fast, read = slow(attr_wait_secs=0), slow(attr_wait_secs=60)
    service.post("/stacks", {"stack_name": "read", "template": fast}).raise_for_status()
    assert service.settled("read")[0] == "CREATE_COMPLETE"
    path = f"/stacks/read/{service.id_of('read')}"
    service.ask("PUT", path, json={"template": read}).raise_for_status()

    with ThreadPoolExecutor(MANY) as pool:
        paths = ("/outputs/o", "", "/resources/R?with_attr=output", "/outputs")
        answers = list(pool.map(lambda number: service.ask("GET", path + paths[number % 4]), range(MANY)))

    assert {answer.status_code for answer in answers} == {200}
    service.assert_well()


@pytest.mark.parametrize(("name", "seconds"), [("long", 10**11), ("longer", 1e308)])
def test_who_waits_for_ever_holds_up_nobody_else(service, name, seconds):
    service.post("/stacks", {"stack_name": name, "template": slow(wait_secs=seconds)}).raise_for_status()
    while (
        service.ask("GET", f"/stacks/{name}/{service.id_of(name)}/resources/R").json()["resource"][
            "resource_status"
        ]
        != "CREATE_IN_PROGRESS"
    ):
        pass

    template = slow(wait_secs=0.1)
    service.post("/stacks", {"stack_name": f"{name}-short", "template": template}).raise_for_status()

    assert service.settled(f"{name}-short")[0] == "CREATE_COMPLETE"


@pytest.mark.parametrize("seconds", ["inf", "nan", "1e400"])
def test_what_is_no_number_is_refused(service, seconds):
    answer = service.preview(slow(wait_secs=seconds))

    assert answer.status_code == 400
    assert f"Value '{seconds}' is not a number" in answer.json()["error"]["message"]


def test_a_client_that_is_not_there_is_refused(service):
    template = slow(client_name="nova", entity_name="servers")

    for path in ("/stacks", "/stacks/preview"):
        answer = service.post(path, {"stack_name": "lacking", "template": template})

        assert answer.status_code == 400
        message = answer.json()["error"]["message"]
        assert "resources.R.properties.client_name: The client (nova) is not available." in message


def test_what_was_never_made_can_be_deleted_whatever_its_plugin_says(service):
    template = hot("Test::NeverMade", {})
    service.post("/stacks", {"stack_name": "never", "template": template}).raise_for_status()
    assert service.settled("never")[0] == "CREATE_FAILED"

    service.ask("DELETE", f"/stacks/never/{service.id_of('never')}").raise_for_status()

    assert service.settled("never") is None


@pytest.mark.parametrize(("type_", "made"), [("Test::NeverMade", True), ("Test::Unknown", False)])
def test_what_was_made_or_may_have_been_stays_known_until_it_is_deleted(service, type_, made):
    name = f"made-{made}"
    service.post("/stacks", {"stack_name": name, "template": hot(type_, {"made": made})}).raise_for_status()
    assert service.settled(name)[0] == "CREATE_FAILED"

    service.ask("DELETE", f"/stacks/{name}/{service.id_of(name)}").raise_for_status()

    state, reason = service.settled(name)
    assert state == "DELETE_FAILED"
    assert "it cannot be deleted" in reason or "nobody can tell" in reason
