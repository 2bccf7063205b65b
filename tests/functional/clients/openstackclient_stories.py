# SPDX-License-Identifier: Apache-2.0
"""``openstack stack ...``: what each command of the plugin has to do.

``osc(*arguments)`` runs a command and returns what it prints as JSON;
``osc.text(...)`` returns it as it is; ``osc.refused(...)`` what it says when it
fails.
"""

from __future__ import annotations

import json

from tests.functional.clients.world import BROKEN, CONFIG, TINY, WAITING

# -- stack -----------------------------------------------------------------------------


def stack_create(osc, world):
    name, environment = world.name(), osc.file("env.yaml", "parameters: {size: medium}")
    options = ["--enable-rollback", "--timeout", "5", "--tags", "a,b", "--wait", "--poll", "1"]
    ran = osc.text(
        *("stack", "create", name, "-t", world.template_file, "-e", environment, "--parameter", "size=large"),
        *options,
    )
    assert f"[{name}]: CREATE_COMPLETE  Stack CREATE completed successfully" in ran
    stack = world.control.show_stack(name)
    assert (stack["stack_status"], stack["parameters"]["size"]) == ("CREATE_COMPLETE", "large")
    assert (stack["tags"], stack["disable_rollback"], stack["timeout_mins"]) == (["a", "b"], False, 5)


def stack_show(osc, world):
    shown = osc("stack", "show", world.web.name)
    assert (shown["id"], shown["parameters"]["size"]) == (world.web.id, "medium")
    assert shown["outputs"][0]["output_value"] == "medium"
    assert "Stack not found" in osc.refused("stack", "show", world.name())


def stack_list(osc, world):
    rows = osc("stack", "list", "--tags", "web,shared", "--property", f"name={world.web.name}")
    (row,) = rows
    assert (row["ID"], row["Stack Status"]) == (world.web.id, "CREATE_COMPLETE")
    return "--all-projects and --long: 403 as by Heat's policy"


def stack_update(osc, world):
    stack = world.stack()
    ran = osc.text("stack", "update", stack.name, "--existing", "--parameter", "size=large", "--wait")
    assert f"[{stack.name}]: UPDATE_COMPLETE  Stack UPDATE completed successfully" in ran
    assert world.output(stack) == "large"


def stack_delete(osc, world):
    stack, another = world.stack(), world.stack()
    osc.text("stack", "delete", stack.name, another.id, "--yes", "--wait")
    assert {world.status(stack), world.status(another)} == {"DELETE_COMPLETE"}


def stack_adopt(osc, world):
    stack = world.stack(parameters={"size": "large"})
    data = osc.file("data.json", osc.text("stack", "abandon", stack.name))
    assert world.status(stack) == "DELETE_COMPLETE"
    osc("stack", "adopt", stack.name, "--adopt-file", data)
    again = world.find(stack.name)
    assert (world.status(again), world.output(again)) == ("ADOPT_COMPLETE", "large")


def stack_abandon(osc, world):
    stack = world.stack()
    data = json.loads(osc.text("stack", "abandon", stack.name))
    assert (data["name"], list(data["resources"])) == (stack.name, ["thing"])
    assert world.status(stack) == "DELETE_COMPLETE"


def stack_export(osc, world):
    data = json.loads(osc.text("stack", "export", world.web.name))
    assert (data["id"], list(data["resources"])) == (world.web.id, ["thing"])


def stack_cancel(osc, world):
    stack, another = world.updating(), world.updating()
    (row,) = osc("stack", "cancel", stack.name)
    assert row["ID"] == stack.id
    assert (world.status(stack), world.output(stack)) == ("ROLLBACK_COMPLETE", "small")
    osc("stack", "cancel", another.name, "--no-rollback")
    assert world.status(another) == "UPDATE_FAILED"


def stack_check(osc, world):
    _acts(osc, world, world.stack(), "check", "CHECK_COMPLETE")


def stack_suspend(osc, world):
    _acts(osc, world, world.stack(), "suspend", "SUSPEND_COMPLETE")


def stack_resume(osc, world):
    stack = world.stack()
    world.control.act(stack.id, "suspend")
    world.settled(stack)
    _acts(osc, world, stack, "resume", "RESUME_COMPLETE")


def stack_environment_show(osc, world):
    assert osc("stack", "environment", "show", world.web.name)["parameters"] == {"size": "medium"}


def stack_file_list(osc, world):
    assert osc("stack", "file", "list", world.web.name)["files"] == {"run.sh": "echo Hello\n"}


def stack_template_show(osc, world):
    assert list(osc("stack", "template", "show", world.web.name)["resources"]) == ["thing"]


def stack_output_list(osc, world):
    assert osc("stack", "output", "list", world.web.name) == [
        {"output_key": "size", "description": "How large it is."}
    ]


def stack_output_show(osc, world):
    assert osc("stack", "output", "show", world.web.name, "size")["output_value"] == "medium"
    assert "medium" in osc.text("stack", "output", "show", world.web.name, "--all")


def stack_failures_list(osc, world):
    stack = world.stack(BROKEN)
    said = osc.text("stack", "failures", "list", stack.name)
    assert f"{stack.name}.thing:\n  resource_type: OS::Heat::TestResource" in said
    assert "status: CREATE_FAILED" in said


def stack_hook_poll(osc, world):
    stack = world.held_up()
    (row,) = osc("stack", "hook", "poll", stack.name)
    assert row["Resource Name"] == "thing"
    assert row["Resource Status Reason"] == "CREATE paused until Hook pre-create is cleared"


def stack_hook_clear(osc, world):
    name = world.name()
    osc("stack", "create", name, "-t", world.template_file, "--pre-create", "th*")
    stack = world.find(name)
    world.await_event(stack, "thing", "CREATE paused until Hook pre-create is cleared")
    osc.text("stack", "hook", "clear", name, "th*")
    assert world.status(stack) == "CREATE_COMPLETE"


def _acts(osc, world, stack, action, end):
    said = osc.text("stack", action, stack.name, "--wait")
    assert end in said
    assert world.status(stack) == end


# -- snapshots -------------------------------------------------------------------------


def stack_snapshot_create(osc, world):
    stack = world.stack()
    made = osc("stack", "snapshot", "create", stack.name, "--name", "first")
    assert (made["name"], world.status(stack)) == ("first", "SNAPSHOT_COMPLETE")


def stack_snapshot_list(osc, world):
    stack, snapshot = world.snapshot()
    (row,) = osc("stack", "snapshot", "list", stack.name)
    assert (row["id"], row["status"]) == (snapshot, "COMPLETE")


def stack_snapshot_show(osc, world):
    stack, snapshot = world.snapshot()
    shown = osc("stack", "snapshot", "show", stack.name, snapshot)
    assert shown["snapshot"]["data"]["resources"]["thing"]["resource_id"]


def stack_snapshot_restore(osc, world):
    stack, snapshot = world.snapshot()
    world.control.update_stack(stack.id, {"parameters": {"size": "large"}}, existing=True)
    assert (world.status(stack), world.output(stack)) == ("UPDATE_COMPLETE", "large")
    osc.text("stack", "snapshot", "restore", stack.name, snapshot)
    assert (world.status(stack), world.output(stack)) == ("RESTORE_COMPLETE", "small")


def stack_snapshot_delete(osc, world):
    stack, snapshot = world.snapshot()
    osc.text("stack", "snapshot", "delete", stack.name, snapshot, "--yes")
    assert "not found" in osc.refused("stack", "snapshot", "show", stack.name, snapshot)


# -- resources and events --------------------------------------------------------------


def stack_resource_list(osc, world):
    (row,) = osc("stack", "resource", "list", world.web.name, "-n", "2", "--long", "--filter", "name=thing")
    assert (row["resource_name"], row["resource_status"]) == ("thing", "CREATE_COMPLETE")
    assert row["stack_name"] == world.web.name


def stack_resource_show(osc, world):
    shown = osc("stack", "resource", "show", world.web.name, "thing", "--with-attr", "output")
    assert (shown["attributes"]["output"], shown["resource_status"]) == ("medium", "CREATE_COMPLETE")


def stack_resource_metadata(osc, world):
    assert osc("stack", "resource", "metadata", world.web.name, "thing") == {"colour": "green"}


def stack_resource_signal(osc, world):
    stack = world.start(WAITING)
    world.await_event(stack, "wait", "state changed", status="CREATE_IN_PROGRESS")
    data = {"status": "SUCCESS", "id": "one", "data": "here I am"}
    osc.text("stack", "resource", "signal", stack.name, "handle", "--data", json.dumps(data))
    assert world.status(stack) == "CREATE_COMPLETE"
    assert json.loads(world.output(stack, "data")) == {"one": "here I am"}


def stack_resource_mark_unhealthy(osc, world):
    stack = world.stack()
    osc.text("stack", "resource", "mark", "unhealthy", stack.name, "thing", "it smokes")
    shown = world.control.show_resource(stack.id, "thing")
    assert shown["resource_status"] == "CHECK_FAILED"
    osc.text("stack", "resource", "mark", "unhealthy", stack.name, "thing", "--reset")
    shown = world.control.show_resource(stack.id, "thing")
    assert shown["resource_status"] == "CHECK_COMPLETE"


def stack_event_list(osc, world):
    rows = osc("stack", "event", "list", world.web.name, "--nested-depth", "1")
    assert rows[0]["resource_status_reason"] == "Stack CREATE started"
    assert rows[-1]["resource_status_reason"] == "Stack CREATE completed successfully"
    (row,) = osc(
        "stack",
        "event",
        "list",
        world.web.name,
        "--resource",
        "thing",
        "--limit",
        "1",
        "--sort",
        "event_time",
    )
    assert row["resource_name"] == "thing"


def stack_event_show(osc, world):
    event = world.control.list_events(world.web.id, resource="thing")[0]
    shown = osc("stack", "event", "show", world.web.name, "thing", event["id"])
    assert (shown["resource_status"], shown["resource_type"]) == ("CREATE_COMPLETE", "OS::Heat::TestResource")


# -- orchestration ---------------------------------------------------------------------


def orchestration_build_info(osc, world):
    assert osc("orchestration", "build", "info").keys() == {"api", "engine"}


def orchestration_service_list(osc, world):
    assert {row["Status"] for row in osc("orchestration", "service", "list")} == {"up"}


def orchestration_resource_type_list(osc, world):
    rows = osc("orchestration", "resource", "type", "list", "--filter", "name=OS::Heat::Test", "--long")
    assert [row["Resource Type"] for row in rows] == ["OS::Heat::TestResource"]


def orchestration_resource_type_show(osc, world):
    command = ("orchestration", "resource", "type", "show", "OS::Heat::TestResource")
    assert osc(*command, "--long")["properties"]["value"]["type"] == "string"
    hot = osc(*command, "--template-type", "hot")
    assert hot["resources"]["TestResource"]["type"] == "OS::Heat::TestResource"


def orchestration_template_version_list(osc, world):
    rows = osc("orchestration", "template", "version", "list")
    assert {"heat_template_version.2018-08-31"} <= {row["Version"] for row in rows}


def orchestration_template_function_list(osc, world):
    rows = osc(
        *("orchestration", "template", "function", "list", "heat_template_version.2018-08-31"),
        "--with_conditions",
    )
    assert {"get_attr", "equals"} <= {row["Functions"] for row in rows}


def orchestration_template_validate(osc, world):
    found = osc("orchestration", "template", "validate", "-t", world.template_file, "--show-nested")
    assert found["Parameters"]["size"]["Default"] == "small"
    bad = osc.file("bad.yaml", TINY.replace("OS::Heat::TestResource", "OS::Nothing::AtAll"))
    assert "OS::Nothing::AtAll" in osc.refused("orchestration", "template", "validate", "-t", bad)


# -- software configs and deployments --------------------------------------------------


def software_config_create(osc, world):
    script = osc.file("script.sh", CONFIG["config"])
    made = osc("software", "config", "create", world.name(), "--config-file", script, "--group", "script")
    assert (made["config"], made["group"]) == (CONFIG["config"], "script")


def software_config_list(osc, world):
    config = world.config()
    assert config in {row["id"] for row in osc("software", "config", "list")}


def software_config_show(osc, world):
    config = world.config()
    assert osc("software", "config", "show", config)["inputs"][0]["name"] == "word"
    assert osc.text("software", "config", "show", config, "--config-only") == CONFIG["config"] + "\n"


def software_config_delete(osc, world):
    config = world.config()
    osc.text("software", "config", "delete", config)
    assert "Configuration not found" in osc.refused("software", "config", "show", config)


def software_deployment_create(osc, world):
    server = world.name()
    made = osc(
        *("software", "deployment", "create", world.name(), "--config", world.config(), "--server", server),
        *("--input-value", "word=Hi", "--action", "UPDATE", "--signal-transport", "NO_SIGNAL"),
    )
    assert (made["server_id"], made["action"], made["status"]) == (server, "UPDATE", "IN_PROGRESS")


def software_deployment_list(osc, world):
    server = world.name()
    deployment = world.deployment(server)
    (row,) = osc("software", "deployment", "list", "--server", server, "--long")
    assert (row["id"], row["status"]) == (deployment, "IN_PROGRESS")


def software_deployment_show(osc, world):
    shown = osc("software", "deployment", "show", world.deployment(), "--long")
    assert (shown["action"], shown["status"]) == ("CREATE", "IN_PROGRESS")


def software_deployment_metadata_show(osc, world):
    server = world.name()
    world.deployment(server)
    (config,) = json.loads(osc.text("software", "deployment", "metadata", "show", server))
    assert config["config"] == CONFIG["config"]


def software_deployment_output_show(osc, world):
    deployment = world.deployment()
    world.deployed(deployment, {"deploy_stdout": "Hi there"})
    said = osc.text("software", "deployment", "output", "show", deployment, "deploy_stdout")
    assert "Hi there" in said


def software_deployment_delete(osc, world):
    deployment = world.deployment()
    osc.text("software", "deployment", "delete", deployment)
    assert "Deployment not found" in osc.refused("software", "deployment", "show", deployment)
