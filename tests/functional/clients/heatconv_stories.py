# SPDX-License-Identifier: Apache-2.0
"""``heatconv ...``: what each command of our own has to do.

``cli`` is used as ``osc`` is in ``openstackclient_stories``.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.functional.clients.world import BROKEN, CONFIG, TINY, WAITING
from tests.functional.waiting import until
from tests.plan_judge import judged

# -- stack -----------------------------------------------------------------------------


def stack_create(cli, world):
    name, environment = world.name(), cli.file("env.yaml", "parameters: {size: medium}")
    size = cli.file("size.txt", "large")
    made = cli(
        *(
            "stack",
            "create",
            name,
            "-t",
            world.template_file,
            "-e",
            environment,
            "--parameter-file",
            f"size={size}",
        ),
        *("--wait", "--poll", "3600"),  # which is for services that do not wait
    )
    assert (made["stack_name"], made["stack_status"]) == (name, "CREATE_COMPLETE")
    assert made["parameters"]["size"] == "large"
    said = cli.refused("stack", "create", name, "-t", world.template_file)
    assert said.startswith(f"The Stack ({name}) already exists")


def stack_update(cli, world):
    stack = world.stack()
    made = cli(
        *("stack", "update", stack.name, "--existing", "--parameter", "size=large"),
        *("--wait", "--poll", "0.1"),
    )
    assert (made["stack_status"], world.output(stack)) == ("UPDATE_COMPLETE", "large")
    whole = f"{stack.name}/{stack.id}"
    made = cli("stack", "update", whole, "--existing", "--converge", "--wait", "--poll", "0.1")
    assert made["stack_status"] == "UPDATE_COMPLETE"
    command = ("stack", "update", stack.name, "--existing", "--parameter", "size=huge", "--plan", "--wait")
    for answer, size in (("n\n", "large"), ("y\n", "huge")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdin", io.StringIO(answer))
            code, _, said = cli.run(*command, "--poll", "0.1")
        assert 'value: "large" -> "huge"' in said
        assert (code, world.output(stack)) == (int(answer == "n\n"), size)


def stack_show(cli, world):
    shown = cli("stack", "show", world.web.name)
    assert (shown["id"], shown["outputs"][0]["output_value"]) == (world.web.id, "medium")
    assert not cli("stack", "show", world.web.name, "--no-resolve-outputs")["outputs"]
    assert cli("stack", "show", f"{world.web.name}/{world.web.id}")["id"] == world.web.id
    for nothing in (f"{world.web.name}/no-such-id", f"other/{world.web.id}"):
        assert "could not be found" in cli.refused("stack", "show", nothing)
    said = cli.refused("stack", "show", "no-such-stack")
    assert said == "The Stack (no-such-stack) could not be found.\n"


def stack_list(cli, world):
    (row,) = cli("stack", "list", "--tags", "web,shared", "--status", "COMPLETE", "--nested", "--hidden")
    assert row["id"] == world.web.id


def stack_preview(cli, world):
    (row,) = cli("stack", "preview", world.web.name, "--existing", "--parameter", "size=large")
    assert (row["change"], row["resource_name"]) == ("updated", "thing")


def stack_plan(cli, world):
    stack = world.stack()
    code, out, _ = cli.run(*_plan(stack, "large"), "--format", "json")
    (thing,) = judged(json.loads(out))["resources"]
    assert (code, thing["path"], thing["action"], thing["certainty"]) == (2, ["thing"], "update", "certain")
    code, out, _ = cli.run(*_plan(stack, "large"))
    assert code == 2
    assert 'value: "small" -> "large"' in out
    assert "0 to create, 0 to replace, 1 to update, 0 to delete; 0 untouched" in out
    for form, start in (("svg", "<svg "), ("dot", "digraph ")):
        assert cli.run(*_plan(stack, "large"), "--format", form)[1].startswith(start)
    code, out, _ = cli.run(*_plan(stack, "small"))
    assert code == 0
    assert "0 to create, 0 to replace, 0 to update, 0 to delete; 1 untouched" in out
    for arguments, line in (
        ((world.name(), "-t", world.template_file), "1 to create, 0 to replace, 0 to update, 0 to delete"),
        ((stack.name, "--delete"), "0 to create, 0 to replace, 0 to update, 1 to delete"),
    ):
        code, out, _ = cli.run("stack", "plan", *arguments)
        assert code == 2
        assert line in out
    assert cli.run("stack", "plan", stack.name, "--rollback")[0] == 0
    assert "could not be found" in cli.refused("stack", "plan", "no-such-stack", "--delete")
    assert "could not be found" in cli.refused("stack", "plan", "no-such-stack", "--existing")
    bad = cli.file("bad.yaml", TINY.replace("OS::Heat::TestResource", "OS::Nothing::AtAll"))
    assert "OS::Nothing::AtAll" in cli.refused("stack", "plan", stack.name, "-t", bad)
    assert (world.status(stack), world.output(stack)) == ("CREATE_COMPLETE", "small")
    _refuses_what_a_guard_forbids(cli, world)


def _refuses_what_a_guard_forbids(cli, world):
    stack = world.stack(environment={"guards": {"keep": {"forbid": ["update"], "names": ["th*"]}}})
    file = cli.file("plan.json", "")
    code, out, said = cli.run(*_plan(stack, "large"), "--out", file)
    assert code == 1
    assert "Breaks the rule keep: it forbids to update thing" in out
    assert said.endswith("cannot be applied: it breaks keep.\n")
    assert judged(json.loads(Path(file).read_text()))["state"] == "refused"
    assert "it forbids to update thing" in cli.refused("stack", "apply", file)
    said = cli.refused("stack", "update", stack.name, "--existing", "--parameter", "size=large")
    assert "it forbids to update thing" in said
    (shown,) = [row["id"] for row in cli("plan", "list", "--stack", stack.name) if row["id"] in said]
    assert "Breaks the rule keep" in cli.text("plan", "show", shown)
    assert world.output(stack) == "small"


def stack_apply(cli, world):
    stack, file = world.stack(), cli.file("plan.json", "")
    assert cli.run(*_plan(stack, "large"), "--out", file)[0] == 2
    made = cli("stack", "apply", file, "--wait", "--poll", "0.1")
    assert (made["stack_status"], world.output(stack)) == ("UPDATE_COMPLETE", "large")
    assert "applied already" in cli.refused("stack", "apply", file)
    assert cli.run(*_plan(stack, "small"), "--out", file)[0] == 2
    cli("stack", "update", stack.name, "--existing", "--parameter", "size=huge", "--wait", "--poll", "0.1")
    assert "thing" in cli.refused("stack", "apply", file)
    assert world.output(stack) == "huge"
    name = world.name()
    assert cli.run("stack", "plan", name, "-t", world.template_file, "--out", file)[0] == 2
    assert cli("stack", "apply", file, "--wait", "--poll", "0.1")["stack_status"] == "CREATE_COMPLETE"
    assert cli.run("stack", "plan", name, "--delete", "--out", file)[0] == 2
    assert cli("stack", "apply", file, "--wait", "--poll", "0.1")["stack_status"] == "DELETE_COMPLETE"


def plan_list(cli, world):
    stack = world.stack()
    plans = [_planned(cli, stack, size) for size in ("large", "huge")]
    rows = {row["id"]: row for row in cli("plan", "list")}
    assert {*plans} <= {*rows}
    row = rows[plans[0]]
    assert (row["action"], row["stack_name"], row["state"]) == ("update", stack.name, "ready")
    assert row["summary"].startswith("0 to create, 0 to replace, 1 to update")
    command = ("plan", "list", "--stack", stack.name)
    assert [row["id"] for row in cli(*command)] == plans[::-1]
    assert [row["id"] for row in cli(*command, "--limit", "1")] == plans[1:]
    assert [row["id"] for row in cli(*command, "--limit", "1", "--marker", plans[1])] == plans[:1]


def plan_show(cli, world):
    plan = _planned(cli, world.stack(), "large")
    assert 'value: "small" -> "large"' in cli.text("plan", "show", plan)
    assert judged(json.loads(cli.text("plan", "show", plan, "--format", "json")))["id"] == plan
    assert "could not be found" in cli.refused("plan", "show", "no-such-plan")


def plan_delete(cli, world):
    plan = _planned(cli, world.stack(), "large")
    cli.text("plan", "delete", plan)
    assert "could not be found" in cli.refused("plan", "show", plan)
    assert "could not be found" in cli.refused("stack", "apply", plan)


def _plan(stack, size):
    return ("stack", "plan", stack.name, "--existing", "--parameter", f"size={size}")


def _planned(cli, stack, size):
    """Return the id of a plan that was made."""
    code, out, _ = cli.run(*_plan(stack, size), "--format", "json")
    assert code == 2
    return judged(json.loads(out))["id"]


def stack_delete(cli, world):
    stack, another = world.stack(), world.stack()
    assert "could not be found" in cli.refused("stack", "delete", stack.name, "no-such-stack")
    assert world.status(stack) == "CREATE_COMPLETE"
    cli.text("stack", "delete", stack.name, another.id, "--wait", "--poll", "0.1")
    assert {world.status(stack), world.status(another)} == {"DELETE_COMPLETE"}


def stack_abandon(cli, world):
    stack = world.stack()
    data = json.loads(cli.text("stack", "abandon", stack.name))
    assert (data["id"], list(data["resources"])) == (stack.id, ["thing"])
    assert world.status(stack) == "DELETE_COMPLETE"


def stack_adopt(cli, world):
    stack = world.stack(parameters={"size": "large"})
    data = cli.file("data.json", "")
    cli.text("stack", "abandon", stack.name, "--output-file", data)
    assert world.status(stack) == "DELETE_COMPLETE"
    command = ("stack", "adopt", stack.name, "--adopt-file", data, "--wait", "--poll", "0.1")
    made = cli(*command)
    assert (made["stack_status"], made["outputs"][0]["output_value"]) == ("ADOPT_COMPLETE", "large")


def stack_export(cli, world):
    data = json.loads(cli.text("stack", "export", world.web.name))
    assert data["resources"]["thing"]["resource_id"]
    assert world.status(world.web) == "CREATE_COMPLETE"


def stack_cancel(cli, world):
    stack, another = world.updating(), world.updating()
    cli.text("stack", "cancel", stack.name)
    assert (world.status(stack), world.output(stack)) == ("ROLLBACK_COMPLETE", "small")
    cli.text("stack", "cancel", another.id, "--no-rollback")
    assert world.status(another) == "UPDATE_FAILED"


def stack_rollback(cli, world):
    stack = world.updating()
    cli.text("stack", "rollback", stack.name, "--wait", "--poll", "0.1")
    assert (world.status(stack), world.output(stack)) == ("ROLLBACK_COMPLETE", "small")


def stack_check(cli, world):
    stack = world.stack()
    cli.text("stack", "check", stack.name, "--wait", "--poll", "0.1")
    assert world.status(stack) == "CHECK_COMPLETE"


def stack_observe(cli, world):
    stack = world.stack()
    assert cli("stack", "observe", stack.name) == []
    assert cli("stack", "show", stack.name)["drift"]["status"] == "IN_SYNC"


def stack_drift(cli, world):
    assert cli("stack", "drift", world.web.name) == []


def stack_converge(cli, world):
    stack = world.stack()
    cli.text("stack", "converge", stack.name, "--wait", "--poll", "0.1")
    assert world.status(stack) == "UPDATE_COMPLETE"


def stack_suspend(cli, world):
    stack = world.stack()
    cli.text("stack", "suspend", stack.name, "--wait", "--poll", "0.1")
    assert world.status(stack) == "SUSPEND_COMPLETE"


def stack_resume(cli, world):
    stack = world.stack()
    cli.text("stack", "suspend", stack.name, "--wait", "--poll", "0.1")
    cli.text("stack", "resume", stack.name, "--wait", "--poll", "0.1")
    assert world.status(stack) == "RESUME_COMPLETE"


def stack_graph(cli, world):
    assert "thing" in cli.text("stack", "graph", world.web.name)


def stack_output_list(cli, world):
    (row,) = cli("stack", "output", "list", world.web.name)
    assert (row["output_key"], row["output_value"]) == ("size", "medium")


def stack_output_show(cli, world):
    command = ("stack", "output", "show", world.web.name)
    assert cli.text(*command, "size", "-f", "value", "-c", "output_value") == "medium\n"
    assert "weight" in cli.refused(*command, "weight")


def stack_template_show(cli, world):
    said = cli.text("stack", "template", "show", world.web.name)
    assert "heat_template_version: '2018-08-31'" in said


def stack_environment_show(cli, world):
    assert cli("stack", "environment", "show", world.web.name)["parameters"] == {"size": "medium"}


def stack_file_list(cli, world):
    assert cli("stack", "file", "list", world.web.name) == {"run.sh": "echo Hello\n"}


def stack_failures_list(cli, world):
    (row,) = cli("stack", "failures", "list", world.stack(BROKEN).name)
    assert (row["path"], row["resource_status"]) == ("thing", "CREATE_FAILED")


def stack_explain(cli, world):
    failed = cli("stack", "explain", world.stack(BROKEN).name)
    assert [each["path"] for each in failed["failures"]] == ["thing"]
    held_up = cli("stack", "explain", world.held_up().name)
    assert [(each["path"], each["cause"]) for each in held_up["waits"]] == [("thing", "BREAKPOINT")]


def stack_hook_poll(cli, world):
    stack = world.held_up()
    (row,) = cli("stack", "hook", "poll", stack.name)
    assert (row["resource_name"], row["hook"], row["stack_id"]) == ("thing", "pre-create", stack.id)
    stack = world.stack()
    cli("stack", "update", stack.name, "--existing", "--parameter", "size=large", "--pre-update", "thing")
    world.await_event(stack, "thing", "UPDATE paused until Hook pre-update is cleared")
    (row,) = cli("stack", "hook", "poll", stack.name)
    assert (row["resource_name"], row["hook"]) == ("thing", "pre-update")


def stack_hook_clear(cli, world):
    name = world.name()
    cli("stack", "create", name, "-t", world.template_file, "--pre-create", "th*")
    stack = world.find(name)
    world.await_event(stack, "thing", "CREATE paused until Hook pre-create is cleared")
    assert "No resource other" in cli.refused("stack", "hook", "clear", name, "other")
    cli.text("stack", "hook", "clear", name, "thi*")
    assert world.status(stack) == "CREATE_COMPLETE"
    assert cli("stack", "hook", "poll", name) == []


# -- snapshots -------------------------------------------------------------------------


def snapshot_create(cli, world):
    stack = world.stack()
    made = cli("snapshot", "create", stack.name, "--name", "first", "--wait", "--poll", "0.1")
    assert (made["name"], made["status"]) == ("first", "COMPLETE")


def snapshot_list(cli, world):
    stack, snapshot = world.snapshot()
    (row,) = cli("snapshot", "list", stack.name)
    assert (row["id"], row["status"]) == (snapshot, "COMPLETE")


def snapshot_show(cli, world):
    stack, snapshot = world.snapshot()
    shown = cli("snapshot", "show", stack.name, snapshot)
    assert shown["data"]["resources"]["thing"]["resource_id"]


def snapshot_restore(cli, world):
    stack, snapshot = world.snapshot()
    cli("stack", "update", stack.name, "--existing", "--parameter", "size=large", "--wait", "--poll", "0.1")
    cli.text("snapshot", "restore", stack.name, snapshot, "--wait", "--poll", "0.1")
    assert (world.status(stack), world.output(stack)) == ("RESTORE_COMPLETE", "small")


def snapshot_delete(cli, world):
    stack, snapshot = world.snapshot()
    cli.text("snapshot", "delete", stack.name, snapshot)
    assert cli("snapshot", "list", stack.name) == []


# -- resources and events --------------------------------------------------------------


def resource_list(cli, world):
    command = ("resource", "list", world.web.name, "--nested-depth", "1", "--type", "OS::Heat::TestResource")
    (row,) = cli(*command)
    assert (row["resource_name"], row["resource_status"]) == ("thing", "CREATE_COMPLETE")
    assert cli("resource", "list", world.web.name, "--status", "FAILED") == []


def resource_show(cli, world):
    shown = cli("resource", "show", world.web.name, "thing", "--attribute", "output")
    assert shown["attributes"] == {"output": "medium"}


def resource_metadata(cli, world):
    assert cli("resource", "metadata", world.web.name, "thing") == {"colour": "green"}


def resource_signal(cli, world):
    stack = world.start(WAITING)
    world.await_event(stack, "wait", "state changed", status="CREATE_IN_PROGRESS")
    data = cli.file("data.json", json.dumps({"status": "SUCCESS", "id": "one", "data": "here I am"}))
    cli.text("resource", "signal", stack.name, "handle", "--data-file", data)
    assert world.status(stack) == "CREATE_COMPLETE"
    assert json.loads(world.output(stack, "data")) == {"one": "here I am"}


def drift_note(cli, world):
    thing = cli("resource", "show", world.web.name, "thing")["physical_resource_id"]
    code, _, said = cli.run("drift", "note", thing, "nothing")
    assert (code, said) == (0, "1 of 2 are looked at.\n")


def resource_observe(cli, world):
    assert cli("resource", "observe", world.web.name, "thing") == []
    assert "(nothing) could not be found" in cli.refused("resource", "observe", world.web.name, "nothing")


def resource_drift(cli, world):
    assert cli("resource", "drift", world.web.name, "thing") == []


def resource_converge(cli, world):
    stack = world.stack()
    cli.text("resource", "converge", stack.name, "thing")
    assert world.status(stack) == "UPDATE_COMPLETE"


def resource_mark_unhealthy(cli, world):
    stack = world.stack()
    cli.text("resource", "mark", "unhealthy", stack.name, "thing", "it smokes")
    assert cli("resource", "show", stack.name, "thing")["resource_status"] == "CHECK_FAILED"
    cli.text("resource", "mark", "unhealthy", stack.name, "thing", "--reset")
    assert cli("resource", "show", stack.name, "thing")["resource_status"] == "CHECK_COMPLETE"


def event_list(cli, world):
    rows = cli("event", "list", world.web.name, "--nested-depth", "1")
    assert rows[0]["resource_status_reason"] == "Stack CREATE started"
    (row,) = cli("event", "list", world.web.name, "--resource", "thing", "--limit", "1")
    assert row["resource_status"] == "CREATE_COMPLETE"


def event_show(cli, world):
    event = world.control.list_events(world.web.id, resource="thing")[0]
    shown = cli("event", "show", world.web.name, "thing", event["id"])
    assert (shown["id"], shown["resource_type"]) == (event["id"], "OS::Heat::TestResource")


# -- software configs and deployments --------------------------------------------------


def software_config_create(cli, world):
    script = cli.file("script.sh", CONFIG["config"])
    more = cli.file("more.yaml", "inputs: [{name: word}]")
    made = cli(
        *("software", "config", "create", world.name(), "--group", "script"),
        *("--config-file", script, "--definition-file", more),
    )
    assert (made["config"], made["inputs"][0]["name"]) == (CONFIG["config"], "word")


def software_config_list(cli, world):
    config = world.config()
    assert config in {row["id"] for row in cli("software", "config", "list")}
    assert len(cli("software", "config", "list", "--limit", "1")) == 1


def software_config_show(cli, world):
    assert cli("software", "config", "show", world.config())["config"] == CONFIG["config"]


def software_config_delete(cli, world):
    config, another = world.config(), world.config()
    cli.text("software", "config", "delete", config, another)
    assert "could not be found" in cli.refused("software", "config", "show", config)


def software_deployment_create(cli, world):
    command = ("software", "deployment", "create", "--config", world.config(), "--server", world.name())
    made = cli(*command, "--input-value", "word=Hi", "--action", "CREATE")
    assert (made["action"], made["status"], made["input_values"]["word"]) == ("CREATE", "IN_PROGRESS", "Hi")


def software_deployment_list(cli, world):
    server = world.name()
    deployment = world.deployment(server)
    (row,) = cli("software", "deployment", "list", "--server", server)
    assert row["id"] == deployment


def software_deployment_show(cli, world):
    assert cli("software", "deployment", "show", world.deployment())["status"] == "IN_PROGRESS"


def software_deployment_update(cli, world):
    command = ("software", "deployment", "update", world.deployment(), "--status", "COMPLETE")
    made = cli(*command, "--output-values", '{"deploy_stdout": "Hi"}')
    assert (made["status"], made["output_values"]["deploy_stdout"]) == ("COMPLETE", "Hi")


def software_deployment_metadata(cli, world):
    server = world.name()
    world.deployment(server)
    (config,) = cli("software", "deployment", "metadata", server)
    assert config["config"] == CONFIG["config"]


def software_deployment_delete(cli, world):
    deployment = world.deployment()
    cli.text("software", "deployment", "delete", deployment)
    assert "could not be found" in cli.refused("software", "deployment", "show", deployment)


# -- the rest --------------------------------------------------------------------------


def resource_type_list(cli, world):
    rows = cli("resource", "type", "list", "--name", "OS::Heat::Test")
    assert [row["resource_type"] for row in rows] == ["OS::Heat::TestResource"]


def resource_type_show(cli, world):
    command = ("resource", "type", "show", "OS::Heat::TestResource")
    assert cli(*command)["properties"]["value"]["type"] == "string"
    hot = cli(*command, "--template-type", "hot")
    assert hot["resources"]["TestResource"]["type"] == "OS::Heat::TestResource"


def template_validate(cli, world):
    assert (
        cli("template", "validate", "-t", world.template_file, "--show-nested")["Parameters"]["size"][
            "Default"
        ]
        == "small"
    )
    bad = cli.file("bad.yaml", TINY.replace("OS::Heat::TestResource", "OS::Nothing::AtAll"))
    assert "OS::Nothing::AtAll" in cli.refused("template", "validate", "-t", bad)


def template_version_list(cli, world):
    assert "heat_template_version.2018-08-31" in {
        row["version"] for row in cli("template", "version", "list")
    }


def template_function_list(cli, world):
    rows = cli("template", "function", "list", "heat_template_version.2018-08-31", "--conditions")
    assert {"get_attr", "equals"} <= {row["functions"] for row in rows}


def build_info(cli, world):
    assert cli("build", "info").keys() == {"api", "engine"}


def service_list(cli, world):
    assert {row["status"] for row in cli("service", "list")} == {"up"}


def service_work(cli, world):
    world.updating()  # by an action that takes an hour
    until(lambda: cli("service", "work")["longest_action"] >= 1)
