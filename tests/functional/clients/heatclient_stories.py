# SPDX-License-Identifier: Apache-2.0
"""python-heatclient: what each method of its managers has to do."""

from __future__ import annotations

import json

import pytest
from heatclient import exc

from tests.functional.clients.world import CONFIG, FILES, TINY, WAITING

# -- stacks ----------------------------------------------------------------------------


def stacks_create(heat, world):
    name = world.name()
    made = heat.stacks.create(
        stack_name=name,
        template=TINY,
        files={"env.yaml": "parameters: {size: large}"},
        environment_files=["env.yaml"],
        parameters={},
        disable_rollback=False,
        timeout_mins=5,
        tags="a,b",
    )["stack"]
    assert made["links"][0]["href"].endswith(f"/stacks/{name}/{made['id']}")
    stack = heat.stacks.get(made["id"])
    assert world.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    stack.get()
    assert (stack.action, stack.status, stack.identifier) == ("CREATE", "COMPLETE", f"{name}/{stack.id}")
    assert (stack.disable_rollback, stack.timeout_mins, stack.tags) == (False, 5, ["a", "b"])
    assert world.output(stack) == "large"
    with pytest.raises(exc.HTTPConflict, match=f"The Stack \\({name}\\) already exists"):
        heat.stacks.create(stack_name=name, template=TINY)


def stacks_get(heat, world):
    stack = heat.stacks.get(world.web.name)
    assert (stack.id, stack.parameters["size"]) == (world.web.id, "medium")
    assert stack.outputs == [
        {"output_key": "size", "output_value": "medium", "description": "How large it is."}
    ]
    assert heat.stacks.get(world.web.id, resolve_outputs=False).stack_name == world.web.name
    assert heat.stacks.get(world.web.path).id == world.web.id
    with pytest.raises(exc.HTTPNotFound):
        heat.stacks.get(world.name())


def stacks_list(heat, world):
    tag = world.name()
    ids = [world.stack(tags=tag).id for _ in range(3)]
    assert [stack.id for stack in heat.stacks.list(tags=tag)] == ids[::-1]
    # More than a page holds: the client asks for the rest with the last one as the marker.
    assert [stack.id for stack in heat.stacks.list(tags=tag, limit=2, sort_dir="asc")] == ids[:2]
    assert [stack.id for stack in heat.stacks.list(tags=tag, marker=ids[0], sort_dir="asc")] == ids[1:]
    assert list(heat.stacks.list(filters={"status": "FAILED"}, tags=tag)) == []
    name = world.web.name
    (web,) = heat.stacks.list(filters={"name": name}, sort_keys=["stack_name"], show_nested=True)
    assert (web.id, web.action, web.status) == (world.web.id, "CREATE", "COMPLETE")


def stacks_preview(heat, world):
    name = world.name()
    stack = heat.stacks.preview(stack_name=name, template=TINY, parameters={"size": "large"})
    assert (stack.stack_name, stack.parameters["size"]) == (name, "large")
    assert [resource["resource_name"] for resource in stack.resources] == ["thing"]
    with pytest.raises(exc.HTTPNotFound):
        heat.stacks.get(name)


def stacks_update(heat, world):
    stack = world.stack(tags="old")
    heat.stacks.update(stack.name, template=TINY, parameters={"size": "large"})
    assert (world.status(stack), world.output(stack)) == ("UPDATE_COMPLETE", "large")
    heat.stacks.update(stack.path, existing=True, tags="new")
    assert (world.status(stack), world.output(stack)) == ("UPDATE_COMPLETE", "large")
    heat.stacks.update(stack.id, existing=True, clear_parameters=["size"])
    assert (world.status(stack), world.output(stack)) == ("UPDATE_COMPLETE", "small")
    assert heat.stacks.get(stack.id).tags == ["new"]
    heat.stacks.update(stack.id, existing=True, converge=True)
    assert world.status(stack) == "UPDATE_COMPLETE"


def stacks_preview_update(heat, world):
    change = {"parameters": {"size": "large"}}
    found = heat.stacks.preview_update(world.web.name, template=TINY, show_nested=True, **change)
    (updated,) = found["resource_changes"]["updated"]
    assert updated["resource_name"] == "thing"
    found = heat.stacks.preview_update(world.web.name, existing=True)
    assert {kind: len(rows) for kind, rows in found["resource_changes"].items() if rows} == {"unchanged": 1}


def stacks_delete(heat, world):
    stack = world.stack()
    heat.stacks.delete(stack.name)
    assert world.status(stack) == "DELETE_COMPLETE"
    with pytest.raises(exc.HTTPNotFound):
        heat.stacks.get(stack.name)
    assert heat.stacks.get(stack.id).stack_status == "DELETE_COMPLETE"
    (gone,) = heat.stacks.list(show_deleted=True, filters={"id": stack.id})
    assert gone.deletion_time


def stacks_abandon(heat, world):
    stack = world.stack(parameters={"size": "large"})
    data = heat.stacks.abandon(stack.name)
    assert (data["id"], data["resources"]["thing"]["type"]) == (stack.id, "OS::Heat::TestResource")
    assert world.status(stack) == "DELETE_COMPLETE"
    with pytest.raises(exc.HTTPNotFound):
        heat.stacks.get(stack.name)
    # What was left behind can be taken up again.
    heat.stacks.create(stack_name=stack.name, adopt_stack_data=json.dumps(data))
    again = heat.stacks.get(stack.name)
    assert (world.status(again), world.output(again)) == ("ADOPT_COMPLETE", "large")
    kept = heat.resources.get(stack.name, "thing").physical_resource_id
    assert kept == data["resources"]["thing"]["resource_id"]


def stacks_export(heat, world):
    data = heat.stacks.export(world.web.name)
    assert (data["name"], data["action"], data["status"]) == (world.web.name, "CREATE", "COMPLETE")
    assert data["resources"]["thing"]["resource_id"]
    assert heat.stacks.get(world.web.name).stack_status == "CREATE_COMPLETE"


def stacks_snapshot(heat, world):
    stack = world.stack()
    made = heat.stacks.snapshot(stack.name, "first")
    assert world.status(stack) == "SNAPSHOT_COMPLETE"
    shown = heat.stacks.snapshot_show(stack.name, made["id"])["snapshot"]
    assert (shown["name"], shown["status"]) == ("first", "COMPLETE")


def stacks_snapshot_list(heat, world):
    stack, made = _snapshot(heat, world)
    (listed,) = heat.stacks.snapshot_list(stack.path)["snapshots"]
    assert (listed["id"], listed["status"], bool(listed["creation_time"])) == (made["id"], "COMPLETE", True)


def stacks_snapshot_show(heat, world):
    stack, made = _snapshot(heat, world)
    shown = heat.stacks.snapshot_show(stack.path, made["id"])["snapshot"]
    assert shown["data"]["resources"]["thing"]["resource_id"]
    with pytest.raises(exc.HTTPNotFound):
        heat.stacks.snapshot_show(stack.path, "no-such-snapshot")


def stacks_snapshot_delete(heat, world):
    stack, made = _snapshot(heat, world)
    heat.stacks.snapshot_delete(stack.path, made["id"])
    while heat.stacks.snapshot_list(stack.path)["snapshots"]:
        world.settled(stack)


def stacks_restore(heat, world):
    stack, made = _snapshot(heat, world)
    heat.stacks.update(stack.id, template=TINY, parameters={"size": "large"})
    assert (world.status(stack), world.output(stack)) == ("UPDATE_COMPLETE", "large")
    heat.stacks.restore(stack.path, made["id"])
    assert (world.status(stack), world.output(stack)) == ("RESTORE_COMPLETE", "small")


def stacks_output_list(heat, world):
    outputs = heat.stacks.output_list(world.web.name)["outputs"]
    assert outputs == [{"output_key": "size", "description": "How large it is."}]


def stacks_output_show(heat, world):
    output = heat.stacks.output_show(world.web.name, "size")["output"]
    assert output == {"output_key": "size", "output_value": "medium", "description": "How large it is."}
    with pytest.raises(exc.HTTPNotFound):
        heat.stacks.output_show(world.web.name, "weight")


def stacks_template(heat, world):
    template = heat.stacks.template(world.web.name)
    assert (template["heat_template_version"], list(template["resources"])) == ("2018-08-31", ["thing"])


def stacks_environment(heat, world):
    environment = heat.stacks.environment(world.web.id)
    assert environment["parameters"] == {"size": "medium"}
    assert environment.keys() >= {"parameter_defaults", "resource_registry"}


def stacks_files(heat, world):
    assert heat.stacks.files(world.web.path) == FILES


def stacks_validate(heat, world):
    found = heat.stacks.validate(template=TINY, show_nested=True, ignore_errors="99001")
    assert found["Description"] == "As small as it can be."
    assert (found["Parameters"]["size"]["Type"], found["Parameters"]["size"]["Default"]) == (
        "String",
        "small",
    )
    with pytest.raises(exc.HTTPBadRequest, match="OS::Nothing::AtAll"):
        heat.stacks.validate(template=TINY.replace("OS::Heat::TestResource", "OS::Nothing::AtAll"))


def _snapshot(heat, world):
    stack = world.stack()
    made = heat.stacks.snapshot(stack.path, "first")
    world.settled(stack)
    return stack, made


# -- actions ---------------------------------------------------------------------------


def actions_suspend(heat, world):
    stack = world.stack()
    heat.actions.suspend(stack.name)
    assert world.status(stack) == "SUSPEND_COMPLETE"
    assert heat.resources.get(stack.path, "thing").resource_status == "SUSPEND_COMPLETE"


def actions_resume(heat, world):
    stack = world.stack()
    heat.actions.suspend(stack.id)
    world.settled(stack)
    heat.actions.resume(stack.id)
    assert world.status(stack) == "RESUME_COMPLETE"


def actions_check(heat, world):
    stack = world.stack()
    heat.actions.check(stack.path)
    assert world.status(stack) == "CHECK_COMPLETE"
    assert heat.resources.get(stack.path, "thing").resource_status == "CHECK_COMPLETE"


def actions_cancel_update(heat, world):
    stack = world.updating()
    heat.actions.cancel_update(stack.name)
    assert (world.status(stack), world.output(stack)) == ("ROLLBACK_COMPLETE", "small")


def actions_cancel_without_rollback(heat, world):
    stack = world.updating()
    heat.actions.cancel_without_rollback(stack.name)
    assert world.status(stack) == "UPDATE_FAILED"


# -- resources and events --------------------------------------------------------------


def resources_list(heat, world):
    (thing,) = heat.resources.list(world.web.name, nested_depth=2, with_detail=True)
    assert (thing.resource_name, thing.resource_type) == ("thing", "OS::Heat::TestResource")
    assert (thing.stack_name, thing.resource_status) == (world.web.name, "CREATE_COMPLETE")
    assert thing.attributes == {"output": "medium"}
    assert heat.resources.list(world.web.name, filters={"name": "another"}) == []


def resources_get(heat, world):
    thing = heat.resources.get(world.web.name, "thing", with_attr=["output"])
    assert (thing.attributes["output"], thing.required_by) == ("medium", [])
    with pytest.raises(exc.HTTPNotFound, match="The Resource \\(another\\) could not be found"):
        heat.resources.get(world.web.name, "another")


def resources_metadata(heat, world):
    assert heat.resources.metadata(world.web.name, "thing") == {"colour": "green"}


def resources_signal(heat, world):
    stack = world.start(WAITING)
    world.await_event(stack, "wait", "state changed", status="CREATE_IN_PROGRESS")
    data = {"status": "SUCCESS", "id": "one", "reason": "up", "data": "here I am"}
    heat.resources.signal(stack.name, "handle", data)
    assert world.status(stack) == "CREATE_COMPLETE"
    assert json.loads(world.output(stack, "data")) == {"one": "here I am"}


def resources_mark_unhealthy(heat, world):
    stack = world.stack()
    before = heat.resources.get(stack.name, "thing").physical_resource_id
    heat.resources.mark_unhealthy(stack.name, "thing", True, "it smokes")
    thing = heat.resources.get(stack.name, "thing")
    assert (thing.resource_status, "it smokes" in thing.resource_status_reason) == ("CHECK_FAILED", True)
    heat.stacks.update(stack.name, existing=True)
    assert world.status(stack) == "UPDATE_COMPLETE"
    assert heat.resources.get(stack.name, "thing").physical_resource_id != before


def resources_generate_template(heat, world):
    assert "TestResource" in heat.resources.generate_template("OS::Heat::TestResource")["Resources"]


def events_list(heat, world):
    name = world.web.name
    events = heat.events.list(name, sort_dir="asc")
    first, last = events[0], events[-1]
    assert (first.resource_name, first.resource_status) == (name, "CREATE_IN_PROGRESS")
    assert (first.resource_status_reason, first.physical_resource_id) == (
        "Stack CREATE started",
        world.web.id,
    )
    assert (last.resource_name, last.resource_status) == (name, "CREATE_COMPLETE")
    assert [event.id for event in heat.events.list(name, sort_dir="asc", marker=first.id, limit=1)] == [
        events[1].id
    ]
    of_thing = {event.id for event in heat.events.list(name, "thing")}
    assert of_thing == {event.id for event in events if event.resource_name == "thing"}
    filters = {"resource_status": "COMPLETE", "resource_name": "thing"}
    (done,) = heat.events.list(name, filters=filters, nested_depth=1)
    assert done.resource_status == "CREATE_COMPLETE"
    assert "root_stack" in {link["rel"] for link in done.links}


def events_get(heat, world):
    (listed,) = heat.events.list(world.web.name, "thing", filters={"resource_status": "COMPLETE"})
    event = heat.events.get(world.web.name, "thing", listed.id)
    assert (event.resource_type, event.resource_status) == ("OS::Heat::TestResource", "CREATE_COMPLETE")


# -- types, templates, services --------------------------------------------------------


def resource_types_list(heat, world):
    assert "OS::Heat::Value" in {found.resource_type for found in heat.resource_types.list()}
    found = heat.resource_types.list(filters={"name": "OS::Heat::Test"}, with_description=True)
    assert [(one.resource_type, bool(one.description)) for one in found] == [("OS::Heat::TestResource", True)]


def resource_types_get(heat, world):
    found = heat.resource_types.get("OS::Heat::TestResource", with_description=True)
    assert found["properties"]["value"]["type"] == "string"
    assert found["support_status"]["status"] == "SUPPORTED"


def resource_types_generate_template(heat, world):
    cfn = heat.resource_types.generate_template("OS::Heat::TestResource")
    assert cfn["Resources"]["TestResource"]["Type"] == "OS::Heat::TestResource"
    hot = heat.resource_types.generate_template("OS::Heat::TestResource", template_type="hot")
    assert "value" in hot["parameters"]
    heat.stacks.validate(template=hot)


def template_versions_list(heat, world):
    found = {version.version: version for version in heat.template_versions.list()}
    assert found["heat_template_version.2018-08-31"].type == "hot"


def template_versions_get(heat, world):
    version = "heat_template_version.2018-08-31"
    functions = {one.functions for one in heat.template_versions.get(version)}
    more = {one.functions for one in heat.template_versions.get(version, with_condition_func=True)}
    assert "get_attr" in functions
    assert more - functions == {"and", "or", "not", "equals"} - functions
    with pytest.raises(exc.HTTPNotFound):
        heat.template_versions.get("heat_template_version.1066-10-14")


def services_list(heat, world):
    assert {service.status for service in heat.services.list()} == {"up"}


def build_info_build_info(heat, world):
    assert heat.build_info.build_info().keys() == {"api", "engine"}


# -- software configs and deployments --------------------------------------------------


def software_configs_create(heat, world):
    made = heat.software_configs.create(name=world.name(), **CONFIG)
    assert heat.software_configs.get(made.id).config == CONFIG["config"]


def software_configs_get(heat, world):
    found = heat.software_configs.get(world.config())
    assert (found.group, found.inputs[0]["name"]) == ("script", "word")
    with pytest.raises(exc.HTTPNotFound):
        heat.software_configs.get("no-such-config")


def software_configs_list(heat, world):
    older, newer = world.config(), world.config()
    assert {older, newer} <= {config.id for config in heat.software_configs.list()}
    assert len(heat.software_configs.list(limit=1)) == 1


def software_configs_delete(heat, world):
    config = world.config()
    heat.software_configs.delete(config)
    with pytest.raises(exc.HTTPNotFound):
        heat.software_configs.get(config)


def software_deployments_create(heat, world):
    config, server = world.config(), world.name()
    made = heat.software_deployments.create(
        config_id=config, server_id=server, action="CREATE", status="IN_PROGRESS", input_values={"word": "Hi"}
    )
    shown = heat.software_deployments.get(made.id)
    assert (shown.config_id, shown.server_id, shown.input_values) == (config, server, {"word": "Hi"})


def software_deployments_get(heat, world):
    found = heat.software_deployments.get(world.deployment())
    assert (found.action, found.status) == ("CREATE", "IN_PROGRESS")
    with pytest.raises(exc.HTTPNotFound):
        heat.software_deployments.get("no-such-deployment")


def software_deployments_list(heat, world):
    server = world.name()
    deployment, _ = world.deployment(server), world.deployment()
    assert [one.id for one in heat.software_deployments.list(server_id=server)] == [deployment]


def software_deployments_metadata(heat, world):
    server = world.name()
    world.deployment(server)
    (config,) = heat.software_deployments.metadata(server)
    assert (config["config"], config["group"]) == (CONFIG["config"], "script")


def software_deployments_update(heat, world):
    deployment = heat.software_deployments.get(world.deployment())
    deployment.update(status="COMPLETE", status_reason="done", output_values={"deploy_stdout": "Hi"})
    shown = heat.software_deployments.get(deployment.id)
    assert (shown.status, shown.output_values["deploy_stdout"]) == ("COMPLETE", "Hi")


def software_deployments_delete(heat, world):
    deployment = world.deployment()
    heat.software_deployments.delete(deployment)
    with pytest.raises(exc.HTTPNotFound):
        heat.software_deployments.get(deployment)
