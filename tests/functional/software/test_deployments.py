# SPDX-License-Identifier: Apache-2.0
"""Deployments of stacks: run, answered, run again, and gone without a trace."""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.db.software.configs import Quotas
from tests.functional.software.stage import CONTEXT, Agent, inputs_of, template

CONFIG = {
    "group": "script",
    "config": "echo $who",
    "inputs": [{"name": "who", "default": "nobody"}, {"name": "size", "type": "Number"}],
    "outputs": [{"name": "answer"}, {"name": "trouble", "error_output": True}],
    "options": {"shell": "sh"},
}
DEPLOYMENT = {
    "config": {"get_resource": "config"},
    "server": "s1",
    "input_values": {"who": "world", "extra": [1]},
}
OUTPUTS = {
    "stdout": {"get_attr": ["deployment", "deploy_stdout"]},
    "code": {"get_attr": ["deployment", "deploy_status_code"]},
    "answer": {"get_attr": ["deployment", "answer"]},
    "config": {"get_attr": ["config", "config"]},
}


def resources(*, config=None, **properties):
    return {
        "config": ("SoftwareConfig", {**CONFIG, **(config or {})}),
        "deployment": ("SoftwareDeployment", {**DEPLOYMENT, **properties}),
    }


@pytest.fixture
def running(stage):
    """The stage, with a deployment whose server has not answered yet."""
    stage.create(resources(), OUTPUTS)
    assert stage.state() == "CREATE_IN_PROGRESS"
    assert stage.state("config") == "CREATE_COMPLETE"
    return stage


@pytest.fixture
def deployed(running, agent):
    """The stage, with a deployment that is complete."""
    agent.signal(deploy_stdout="hello", deploy_status_code=0, answer="42")
    running.run()
    assert running.state() == "CREATE_COMPLETE"
    return running


# -- the config of a server, and its answer -----------------------------------------------


def test_a_server_is_told_what_to_run_and_where_to_answer(running, agent):
    config = agent.poll()
    assert (config["config"], config["group"], config["options"]) == ("echo $who", "script", {"shell": "sh"})
    assert config["name"].startswith("web-config-")
    assert [item["name"] for item in config["outputs"]] == ["answer", "trouble"]
    values = inputs_of(config)
    row_id = running.rows("deployment")[0].id
    assert values.pop("deploy_signal_id").startswith(
        f"http://heat/v1/tests/stacks/web/{running.stack_id}/resources/{row_id}/signal?signature="
    )
    assert values == {
        "who": "world",
        "size": None,
        "extra": [1],
        "deploy_server_id": "s1",
        "deploy_action": "CREATE",
        "deploy_stack_id": f"web/{running.stack_id}",
        "deploy_resource_name": "deployment",
        "deploy_signal_transport": "CFN_SIGNAL",
        "deploy_signal_verb": "POST",
    }


def test_a_signal_completes_it_and_tells_its_outputs(deployed):
    assert deployed.output("stdout") == "hello"
    assert deployed.output("code") == 0
    assert deployed.output("answer") == "42"
    assert deployed.output("config") == "echo $who"
    (deployment,) = deployed.deployments()
    assert (deployment.action, deployment.status) == ("CREATE", "COMPLETE")
    assert deployment.id == deployed.rows("deployment")[0].physical_id


def test_a_put_completes_it_and_tells_its_outputs(running, agent):
    agent.put(status="COMPLETE", output_values={"deploy_stdout": "by PUT", "answer": "43"})
    running.run()
    assert running.state() == "CREATE_COMPLETE"
    assert (running.output("stdout"), running.output("answer")) == ("by PUT", "43")


def test_a_put_that_nobody_was_told_of_is_seen_in_time(running, agent):
    agent.put(status="COMPLETE")
    running.bell.woken.clear()
    running.run()
    assert running.state() == "CREATE_IN_PROGRESS"
    running.worker.pass_time()
    running.run()
    assert running.state() == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"deploy_status_code": 3}, "deploy_status_code : Deployment exited with non-zero status code: 3"),
        ({"deploy_status_code": "0", "trouble": "no disk"}, "trouble : no disk"),
    ],
)
def test_a_run_that_failed_fails_it(running, agent, details, reason):
    agent.signal(**details)
    running.run()
    assert running.state() == "CREATE_FAILED"
    assert running.reason("deployment") == (
        f"Error: resources.deployment: Deployment to server failed: {reason}"
    )


def test_a_put_of_a_failure_fails_it(running, agent):
    agent.put(status="FAILED", status_reason="no disk")
    running.run()
    assert running.state() == "CREATE_FAILED"
    assert running.reason("deployment").endswith("Deployment to server failed: no disk")


def test_a_deployment_that_is_deleted_while_it_is_run_fails(running, agent):
    (deployment,) = running.deployments()
    running.software.delete_software_deployment(CONTEXT, deployment.id)
    running.worker.pass_time()
    running.run()
    assert running.state() == "CREATE_FAILED"
    assert "was deleted while it was run" in running.reason("deployment")


def test_a_signal_after_the_end_changes_nothing(deployed, agent):
    deployed.signals.signal_resource(CONTEXT, deployed.stack_id, "deployment", {"deploy_stdout": "late"})
    assert deployed.deployments()[0].output_values["deploy_stdout"] == "hello"


def test_without_signals_nothing_is_waited_for(stage, agent):
    stage.create(resources(signal_transport="NO_SIGNAL"))
    assert stage.state() == "CREATE_COMPLETE"
    assert "deploy_signal_id" not in inputs_of(agent.poll())


@pytest.mark.parametrize(("transport", "needs"), [("TEMP_URL_SIGNAL", "Swift"), ("ZAQAR_SIGNAL", "Zaqar")])
def test_a_transport_that_takes_another_service_is_refused(stage, transport, needs):
    with pytest.raises(errors.Invalid) as refused:
        stage.create(resources(signal_transport=transport))
    assert refused.value.problems[0][0] == "resources.deployment.properties.signal_transport"
    assert needs in refused.value.problems[0][1]


def test_when_time_runs_out_the_server_may_not_answer_any_more(make_stage):
    stage = make_stage(timeout=0)
    stage.create(resources())
    assert stage.state() == "CREATE_FAILED"
    assert stage.reason("deployment") == "Timed out"
    (deployment,) = stage.deployments()
    assert (deployment.status, deployment.status_reason) == ("FAILED", "Deployment cancelled.")


def test_an_agent_finds_it_among_the_metadata_of_its_servers_resource(stage):
    stage.create(
        {
            "config": ("SoftwareConfig", CONFIG),
            "server": ("TestResource", {}),
            "deployment": ("SoftwareDeployment", {**DEPLOYMENT, "server": {"get_resource": "server"}}),
        }
    )

    def metadata(name):
        return stage.resource_reads.get_metadata(CONTEXT, stage.stack_id, name)

    assert metadata("config") == {}
    (deployment,) = metadata("server")["deployments"]
    keys = ["id", "name", "group", "creation_time", "config", "inputs", "outputs", "options"]
    assert list(deployment) == keys
    assert inputs_of(deployment)["deploy_server_id"] == stage.rows("server")[0].physical_id


# -- updates -----------------------------------------------------------------------------


def test_an_update_runs_it_again(deployed, agent):
    deployed.update(resources(input_values={"who": "moon"}), OUTPUTS)
    assert deployed.state() == "UPDATE_IN_PROGRESS"
    agent.signal(deploy_stdout="hello moon")
    values = inputs_of(agent.ran[-1])
    assert (values["who"], values["deploy_action"]) == ("moon", "UPDATE")
    deployed.run()
    assert deployed.state() == "UPDATE_COMPLETE"
    assert deployed.output("stdout") == "hello moon"
    assert len(deployed.deployments()) == 1
    assert len(deployed.configs()) == 2  # the config, and the one derived of it now


def test_a_config_that_changes_is_replaced_and_run(deployed, agent):
    before = {config.id for config in deployed.configs()}
    deployed.update(resources(config={"config": "echo 2"}), OUTPUTS)
    assert agent.poll()["config"] == "echo 2"
    agent.ran.pop()
    agent.signal()
    deployed.run()
    assert deployed.state() == "UPDATE_COMPLETE"
    assert not before & {config.id for config in deployed.configs()}
    assert len(deployed.configs()) == 2


def test_an_update_that_changes_nothing_runs_nothing(deployed, agent):
    deployed.update(resources(), OUTPUTS)
    assert deployed.state() == "UPDATE_COMPLETE"
    assert agent.has_nothing_to_do()


def test_going_back_to_what_was_run_before_runs_it_again(deployed, agent):
    for who in ("moon", "world", "moon"):
        deployed.update(resources(input_values={"who": who}), OUTPUTS)
        agent.signal(deploy_stdout=who)
        deployed.run()
        assert deployed.output("stdout") == who
    assert len({config["id"] for config in agent.ran}) == 4


def test_an_update_that_is_no_action_of_it_runs_nothing(stage, agent):
    stage.create(resources(actions=["CREATE"]))
    agent.signal()
    stage.run()
    stage.update(resources(actions=["CREATE"], input_values={"who": "moon"}))
    assert stage.state() == "UPDATE_COMPLETE"
    assert agent.has_nothing_to_do()


def test_an_input_that_says_so_replaces_it(stage, agent):
    config = {"inputs": [{"name": "who", "replace_on_change": True}, {"name": "size"}]}
    stage.create(resources(config=config))
    agent.signal()
    stage.run()
    before = stage.rows("deployment")[0].physical_id
    stage.update(resources(config=config, input_values={"who": "world", "size": 1}))
    agent.signal()
    stage.run()
    assert stage.rows("deployment")[0].physical_id == before
    stage.update(resources(config=config, input_values={"who": "moon", "size": 1}))
    agent.signal()
    stage.run()
    assert stage.state() == "UPDATE_COMPLETE"
    (deployment,) = stage.deployments()
    assert deployment.id == stage.rows("deployment")[0].physical_id != before


def test_a_preview_tells_an_update_from_a_replacement(deployed):
    def changes(**changed):
        source = {"template": template(resources(**changed), OUTPUTS)}
        preview = deployed.preview.preview_update(CONTEXT, deployed.stack_id, source, {}, existing=False)
        return {kind: [row["name"] for row in rows] for kind, rows in preview.items() if rows}

    assert changes(input_values={"who": "moon"}) == {"unchanged": ["config"], "updated": ["deployment"]}
    assert changes(server="s2") == {"unchanged": ["config"], "replaced": ["deployment"]}


def test_a_failed_one_is_replaced(running, agent):
    agent.signal(deploy_status_code=1)
    running.run()
    running.update(resources(), OUTPUTS)
    agent.signal(deploy_stdout="better")
    running.run()
    assert running.state() == "UPDATE_COMPLETE"
    assert running.output("stdout") == "better"
    assert len(running.deployments()) == 1


# -- the other actions ---------------------------------------------------------------------


def test_deleting_leaves_nothing(deployed):
    deployed.delete()
    assert deployed.state() == "DELETE_COMPLETE"
    assert (deployed.deployments(), deployed.configs()) == ([], [])


def test_deleting_while_it_is_run_leaves_nothing(running):
    running.delete()
    assert running.state() == "DELETE_COMPLETE"
    assert (running.deployments(), running.configs()) == ([], [])


def test_deleting_runs_it_where_that_is_an_action_of_it(stage, agent):
    stage.create(resources(actions=["DELETE"]))
    assert stage.state() == "CREATE_COMPLETE"
    assert agent.has_nothing_to_do()
    stage.delete()
    assert stage.state() == "DELETE_IN_PROGRESS"
    agent.signal()
    assert inputs_of(agent.ran[-1])["deploy_action"] == "DELETE"
    stage.run()
    assert stage.state() == "DELETE_COMPLETE"
    assert (stage.deployments(), stage.configs()) == ([], [])


def test_a_deletion_that_failed_is_run_again(stage, agent):
    stage.create(resources(actions=["CREATE", "DELETE"]))
    agent.signal()
    stage.run()
    stage.delete()
    agent.signal(deploy_status_code=1)
    stage.run()
    assert stage.state() == "DELETE_FAILED"
    stage.delete()
    agent.signal()
    stage.run()
    assert stage.state() == "DELETE_COMPLETE"
    assert (stage.deployments(), stage.configs()) == ([], [])


def test_suspending_and_resuming_run_it_where_they_are_actions_of_it(stage, agent):
    stage.create(resources(actions=["SUSPEND", "RESUME"]))
    for _ in range(2):
        for action in ("suspend", "resume"):
            stage.act(getattr(stage.lifecycle, f"{action}_stack"))
            assert stage.state() == f"{action.upper()}_IN_PROGRESS"
            agent.signal()
            assert inputs_of(agent.ran[-1])["deploy_action"] == action.upper()
            stage.run()
            assert stage.state() == f"{action.upper()}_COMPLETE"
    assert len(agent.ran) == 4


# -- other types ------------------------------------------------------------------------------


def test_a_component_says_itself_in_which_actions_it_is_run(stage, agent):
    configs = [
        {"actions": ["CREATE"], "config": "make", "tool": "script"},
        {"actions": ["DELETE"], "config": "unmake", "tool": "script"},
    ]
    component = {
        "config": ("SoftwareComponent", {"configs": configs, "inputs": [{"name": "who"}]}),
        "deployment": ("SoftwareDeployment", DEPLOYMENT),
    }
    stage.create(component, {"configs": {"get_attr": ["config", "configs", 1, "config"]}})
    config = agent.poll()
    assert (config["group"], config["config"]) == ("component", {"configs": configs})
    agent.ran.pop()
    agent.signal()
    stage.run()
    assert stage.output("configs") == "unmake"
    stage.update({**component, "deployment": ("SoftwareDeployment", {**DEPLOYMENT, "name": "new"})})
    assert stage.state() == "UPDATE_COMPLETE"
    stage.delete()
    assert stage.state() == "DELETE_IN_PROGRESS"
    agent.signal()
    stage.run()
    assert stage.state() == "DELETE_COMPLETE"


@pytest.mark.parametrize("given", [{"who": "world"}, {}])
def test_a_structured_deployment_fills_its_inputs_in(stage, agent, given):
    config = {"greet": {"get_input": "who"}, "list": [{"get_input": "size"}], "get_input": "kept", "n": 1}
    declared = {"config": config, "group": "os-apply-config", "inputs": [{"name": "who", "default": "you"}]}
    structured = {"config": {"get_resource": "config"}, "server": "s1", "input_values": given}
    stage.create(
        {
            "config": ("StructuredConfig", declared),
            "deployment": ("StructuredDeployment", structured),
        }
    )
    assert agent.poll()["config"] == {
        "greet": given.get("who", "you"),
        "list": [None],
        "get_input": "kept",
        "n": 1,
    }


def test_a_strict_one_asks_for_every_input(stage):
    structured = {
        "config": {"get_resource": "config"},
        "server": "s1",
        "input_key": "fill",
        "input_values_validate": "STRICT",
    }
    stage.create(
        {
            "config": ("StructuredConfig", {"config": {"a": {"fill": "size"}}}),
            "deployment": ("StructuredDeployment", structured),
        }
    )
    assert stage.state() == "CREATE_FAILED"
    assert "asks for the input 'size'" in stage.reason("deployment")


def test_configs_made_of_others_are_kept_as_text(stage):
    stage.create(
        {
            "settings": ("CloudConfig", {"cloud_config": {"users": [{"name": "a"}]}}),
            "all": (
                "MultipartMime",
                {"parts": [{"config": {"get_resource": "settings"}, "subtype": "cloud-config"}]},
            ),
        },
        {
            "settings": {"get_attr": ["settings", "config"]},
            "all": {"get_attr": ["all", "config"]},
        },
    )
    assert stage.state() == "CREATE_COMPLETE"
    assert stage.output("settings") == "#cloud-config\nusers:\n- name: a\n"
    assert "Content-Type: text/cloud-config" in stage.output("all")
    assert stage.output("settings") in stage.output("all")
    stage.delete()
    assert stage.configs() == []


# -- quotas, and servers of their own -----------------------------------------------------------


def test_a_stack_may_not_have_more_than_its_project(make_stage):
    stage = make_stage(quotas=Quotas(configs=2, deployments=1))
    two = resources() | {"other": ("SoftwareDeployment", {**DEPLOYMENT, "server": "s2"})}
    stage.create(two)
    assert stage.state() == "CREATE_FAILED"
    failed = [name for name in ("deployment", "other") if stage.state(name) == "CREATE_FAILED"]
    assert "maximum software configs per project, 2" in stage.reason(failed[0])
    assert len(stage.deployments()) == 1


def test_each_server_gets_its_own_in_order_of_names(stage):
    both = {
        "config": ("SoftwareConfig", CONFIG),
        "b": ("SoftwareDeployment", {**DEPLOYMENT, "name": "2-second"}),
        "a": ("SoftwareDeployment", {**DEPLOYMENT, "name": "1-first"}),
        "c": ("SoftwareDeployment", {**DEPLOYMENT, "server": "s2"}),
    }
    stage.create(both)
    configs = stage.software.list_deployed_configs(CONTEXT, "s1")
    assert [config["name"] for config in configs] == ["1-first", "2-second"]
    Agent(stage, "s2").signal()
    stage.run()
    assert stage.state("c") == "CREATE_COMPLETE"
    assert stage.state() == "CREATE_IN_PROGRESS"
