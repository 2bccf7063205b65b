# SPDX-License-Identifier: Apache-2.0
"""openstacksdk: what each method of ``conn.orchestration``, and of the cloud layer above it, has to do."""

from __future__ import annotations

import pytest
from openstack import exceptions

from tests.functional.clients.world import CONFIG, FILES, TINY

UNKNOWN = TINY.replace("OS::Heat::TestResource", "OS::Nothing::AtAll")

# -- orchestration: stacks -------------------------------------------------------------


def orchestration_create_stack(conn, world):
    name = world.name()
    parsed = {"template": TINY, "parameters": {"size": "large"}, "tags": "a,b", "is_rollback_disabled": True}
    preview = conn.orchestration.create_stack(preview=True, name=name, **parsed)
    assert preview.name == name
    stack = conn.orchestration.create_stack(name=name, **parsed)
    assert world.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    assert world.output(stack) == "large"
    with pytest.raises(exceptions.ConflictException):
        conn.orchestration.create_stack(name=name, **parsed)


def orchestration_find_stack(conn, world):
    assert conn.orchestration.find_stack(world.web.name).id == world.web.id
    assert conn.orchestration.find_stack(world.web.id, resolve_outputs=False).name == world.web.name
    assert conn.orchestration.find_stack(world.name()) is None
    with pytest.raises(exceptions.NotFoundException):
        conn.orchestration.find_stack(world.name(), ignore_missing=False)


def orchestration_get_stack(conn, world):
    stack = conn.orchestration.get_stack(world.web.id)
    assert (stack.name, stack.status, stack.tags) == (world.web.name, "CREATE_COMPLETE", ["web", "shared"])
    assert stack.outputs[0]["output_value"] == "medium"
    again = conn.orchestration.get_stack(stack)
    assert again.parameters["size"] == "medium"


def orchestration_stacks(conn, world):
    tag = world.name()
    ids = {world.stack(tags=f"{tag},all").id for _ in range(2)}
    assert {stack.id for stack in conn.orchestration.stacks(tags=[tag, "all"])} == ids
    assert {stack.id for stack in conn.orchestration.stacks(any_tags=[tag, world.name()])} == ids
    assert {stack.id for stack in conn.orchestration.stacks(tags=[tag], limit=1)} == ids
    assert list(conn.orchestration.stacks(tags=[tag], status="FAILED")) == []


def orchestration_update_stack(conn, world):
    stack = world.stack()
    preview = conn.orchestration.update_stack(
        conn.orchestration.get_stack(stack.id), preview=True, template=TINY, parameters={"size": "large"}
    )
    assert preview.id == stack.id
    conn.orchestration.update_stack(stack.id, template=TINY, parameters={"size": "large"})
    assert (world.status(stack), world.output(stack)) == ("UPDATE_COMPLETE", "large")
    conn.orchestration.update_stack(
        conn.orchestration.get_stack(stack.id), template=TINY, parameters={"size": "tiny"}
    )
    assert (world.status(stack), world.output(stack)) == ("UPDATE_COMPLETE", "tiny")


def orchestration_delete_stack(conn, world):
    stack = world.stack()
    conn.orchestration.delete_stack(conn.orchestration.get_stack(stack.name))
    assert world.status(stack) == "DELETE_COMPLETE"
    conn.orchestration.delete_stack(world.name())
    with pytest.raises(exceptions.NotFoundException):
        conn.orchestration.delete_stack(world.name(), ignore_missing=False)


def orchestration_check_stack(conn, world):
    stack = world.stack()
    conn.orchestration.check_stack(stack.id)
    assert world.status(stack) == "CHECK_COMPLETE"


def orchestration_suspend_stack(conn, world):
    stack = world.stack()
    conn.orchestration.suspend_stack(stack.id)
    assert world.status(stack) == "SUSPEND_COMPLETE"


def orchestration_resume_stack(conn, world):
    stack = world.stack()
    conn.orchestration.suspend_stack(stack.id)
    world.settled(stack)
    conn.orchestration.resume_stack(conn.orchestration.get_stack(stack.id))
    assert world.status(stack) == "RESUME_COMPLETE"


def orchestration_abandon_stack(conn, world):
    stack = world.stack()
    data = conn.orchestration.abandon_stack(conn.orchestration.get_stack(stack.id))
    assert (data["id"], data["resources"]["thing"]["status"]) == (stack.id, "COMPLETE")
    assert world.status(stack) == "DELETE_COMPLETE"
    assert conn.orchestration.find_stack(stack.name) is None


def orchestration_export_stack(conn, world):
    data = conn.orchestration.export_stack(conn.orchestration.get_stack(world.web.id))
    assert (data["id"], data["environment"]["parameters"]) == (world.web.id, {"size": "medium"})


def orchestration_get_stack_template(conn, world):
    template = conn.orchestration.get_stack_template(world.web.name)
    assert list(template.resources) == ["thing"]
    assert list(template.outputs) == ["size"]


def orchestration_get_stack_environment(conn, world):
    environment = conn.orchestration.get_stack_environment(world.web.name)
    assert environment.parameters == {"size": "medium"}


def orchestration_get_stack_files(conn, world):
    assert conn.orchestration.get_stack_files(world.web.name) == FILES


def orchestration_resources(conn, world):
    (thing,) = conn.orchestration.resources(world.web.name)
    assert (thing.name, thing.resource_type, thing.status) == (
        "thing",
        "OS::Heat::TestResource",
        "CREATE_COMPLETE",
    )


def orchestration_stack_events(conn, world):
    of_stack = list(conn.orchestration.stack_events(world.web.id, sort_dir="asc"))
    assert of_stack[0].resource_status_reason == "Stack CREATE started"
    of_thing = list(conn.orchestration.stack_events(world.web.id, "thing"))
    assert {event.resource_name for event in of_thing} == {"thing"}


# -- orchestration: templates ----------------------------------------------------------


def orchestration_validate_template(conn, world):
    found = conn.orchestration.validate_template(TINY, environment={"parameters": {"size": "large"}})
    assert found.parameters["size"]["Default"] == "small"
    with pytest.raises(exceptions.BadRequestException, match="OS::Nothing::AtAll"):
        conn.orchestration.validate_template(UNKNOWN)
    with pytest.raises(exceptions.BadRequestException, match="OS::Nothing::AtAll"):
        conn.orchestration.validate_template(UNKNOWN.replace(", default: small", ""))


def orchestration_get_template_contents(conn, world):
    _, template = conn.orchestration.get_template_contents(template_file=world.template_file)
    assert conn.orchestration.validate_template(template).description == "As small as it can be."


def orchestration_read_env_and_templates(conn, world):
    read = conn.orchestration.read_env_and_templates(
        template_file=world.template_file, environment_files=[world.environment_file]
    )
    stack = conn.orchestration.create_stack(name=world.name(), **read)
    assert (world.settled(stack)["stack_status"], world.output(stack)) == ("CREATE_COMPLETE", "large")


# -- orchestration: software -----------------------------------------------------------


def orchestration_create_software_config(conn, world):
    made = conn.orchestration.create_software_config(name=world.name(), **CONFIG)
    assert conn.orchestration.get_software_config(made.id).inputs[0]["name"] == "word"


def orchestration_get_software_config(conn, world):
    assert conn.orchestration.get_software_config(world.config()).config == CONFIG["config"]


def orchestration_software_configs(conn, world):
    made = {world.config(), world.config()}
    assert made <= {config.id for config in conn.orchestration.software_configs(limit=1)}


def orchestration_delete_software_config(conn, world):
    config = world.config()
    conn.orchestration.delete_software_config(config)
    with pytest.raises(exceptions.NotFoundException):
        conn.orchestration.get_software_config(config)


def orchestration_create_software_deployment(conn, world):
    server = world.name()
    made = conn.orchestration.create_software_deployment(
        config_id=world.config(), server_id=server, action="CREATE", status="IN_PROGRESS"
    )
    assert conn.orchestration.get_software_deployment(made.id).server_id == server


def orchestration_get_software_deployment(conn, world):
    assert conn.orchestration.get_software_deployment(world.deployment()).status == "IN_PROGRESS"


def orchestration_software_deployments(conn, world):
    deployment = world.deployment()
    assert deployment in {one.id for one in conn.orchestration.software_deployments()}


def orchestration_update_software_deployment(conn, world):
    deployment = conn.orchestration.get_software_deployment(world.deployment())
    conn.orchestration.update_software_deployment(
        deployment, status="COMPLETE", output_values={"deploy_stdout": "Hi"}
    )
    shown = conn.orchestration.get_software_deployment(deployment.id)
    assert (shown.status, shown.output_values["deploy_stdout"]) == ("COMPLETE", "Hi")


def orchestration_delete_software_deployment(conn, world):
    deployment = world.deployment()
    conn.orchestration.delete_software_deployment(deployment)
    with pytest.raises(exceptions.NotFoundException):
        conn.orchestration.get_software_deployment(deployment)


# -- orchestration: waiting ------------------------------------------------------------


def orchestration_wait_for_status(conn, world):
    stack = conn.orchestration.get_stack(world.start().id)
    done = conn.orchestration.wait_for_status(stack, "CREATE_COMPLETE", ["CREATE_FAILED"], interval=0.1)
    assert done.status == "CREATE_COMPLETE"


def orchestration_wait_for_delete(conn, world):
    stack = conn.orchestration.get_stack(world.stack().id)
    conn.orchestration.delete_stack(stack)
    conn.orchestration.wait_for_delete(stack, interval=0.1, wait=60)
    assert world.status(stack) == "DELETE_COMPLETE"


# -- the cloud layer -------------------------------------------------------------------


def cloud_create_stack(conn, world):
    name = world.name()
    stack = conn.create_stack(
        name,
        template_file=world.template_file,
        environment_files=[world.environment_file],
        rollback=False,
        wait=True,
        timeout=600,
    )
    assert (stack.name, stack.status) == (name, "CREATE_COMPLETE")
    assert (stack.outputs[0]["output_value"], stack.timeout_mins) == ("large", 10)


def cloud_update_stack(conn, world):
    stack = world.stack()
    after = conn.update_stack(stack.name, template_file=world.template_file, wait=True, size="large")
    assert (after.status, after.outputs[0]["output_value"]) == ("UPDATE_COMPLETE", "large")


def cloud_delete_stack(conn, world):
    stack = world.stack()
    assert conn.delete_stack(stack.name, wait=True) is True
    assert world.status(stack) == "DELETE_COMPLETE"
    assert conn.delete_stack(stack.name) is False


def cloud_get_stack(conn, world):
    assert conn.get_stack(world.web.name).id == world.web.id
    assert conn.get_stack(world.web.id, filters={"status": "CREATE_FAILED"}) is None
    assert conn.get_stack(world.name()) is None


def cloud_search_stacks(conn, world):
    (found,) = conn.search_stacks(world.web.name, filters={"status": "CREATE_COMPLETE"})
    assert found.id == world.web.id


def cloud_list_stacks(conn, world):
    assert world.web.id in {stack.id for stack in conn.list_stacks(status="COMPLETE")}


def cloud_get_template_contents(conn, world):
    _, template = conn.get_template_contents(template_file=world.template_file)
    assert template["heat_template_version"] == "2018-08-31"
