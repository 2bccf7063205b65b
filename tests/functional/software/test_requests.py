# SPDX-License-Identifier: Apache-2.0
"""Configs and deployments as users ask for them, on each database."""

from __future__ import annotations

import contextlib
import functools

import pytest

from heatconv import errors
from heatconv.db.software import configs
from heatconv.db.software.configs import Quotas
from heatconv.rpc.context import RequestContext
from tests.functional.core.world import at_once
from tests.functional.software.stage import CONTEXT

STRANGER = RequestContext(project_id="strangers")


@pytest.fixture
def software(stage):
    return stage.software


@pytest.fixture
def config(software):
    return software.create_software_config(CONTEXT, {"name": "a", "config": "echo"})["id"]


def deploy(software, config, **values):
    wanted = {"config_id": config, "server_id": "s1", **values}
    return software.create_software_deployment(CONTEXT, wanted)


def test_a_config_is_kept_as_it_was_given_and_completed(software):
    given = {
        "name": "a",
        "group": "script",
        "config": {"any": ["map", None]},
        "inputs": [
            {"name": "n", "type": "Number", "default": "3"},
            {"name": "r", "replace_on_change": True, "value": None},
        ],
        "outputs": [{"name": "o", "description": "d", "error_output": True}, {"name": "p"}],
        "options": {"x": 1},
    }
    made = software.create_software_config(CONTEXT, given)
    assert software.show_software_config(CONTEXT, made["id"]) == made
    assert (made["name"], made["group"], made["project"]) == ("a", "script", "tests")
    assert (made["config"], made["options"]) == ({"any": ["map", None]}, {"x": 1})
    assert made["inputs"] == [
        {"name": "n", "type": "Number", "default": "3"},
        {"name": "r", "type": "String", "replace_on_change": True, "value": None},
    ]
    assert made["outputs"] == [
        {"name": "o", "description": "d", "type": "String", "error_output": True},
        {"name": "p", "type": "String", "error_output": False},
    ]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"inputs": [{"type": "String"}]}, "inputs[0].name"),
        ({"inputs": [{"name": "a"}, {"name": "b", "type": "Text"}]}, "inputs[1].type"),
        ({"inputs": [{"name": "a", "type": "Number", "default": "x"}]}, "inputs[0].default"),
        ({"inputs": [{"name": "a", "size": 1}]}, "inputs[0].size"),
        ({"outputs": [{"name": "a", "error_output": "perhaps"}]}, "outputs[0].error_output"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(software, given, path):
    with pytest.raises(errors.Invalid) as refused:
        software.create_software_config(CONTEXT, given)
    assert refused.value.problems[0][0] == path
    assert software.list_software_configs(CONTEXT, {}) == []


def test_configs_are_listed_newest_first_a_page_at_a_time(software):
    made = [software.create_software_config(CONTEXT, {"name": str(n)})["id"] for n in range(5)]
    software.create_software_config(STRANGER, {"name": "theirs"})

    def page(**query):
        return [row["id"] for row in software.list_software_configs(CONTEXT, query)]

    assert page() == made[::-1]
    assert page(limit=2) == [made[4], made[3]]
    assert page(limit=2, marker=made[3]) == [made[2], made[1]]
    assert page(marker=made[0]) == []
    everything = software.list_software_configs(CONTEXT, {"all_projects": True})
    assert {row["project"] for row in everything} == {"tests", "strangers"}


def test_a_deployment_goes_from_hand_to_hand(software, config):
    made = deploy(software, config, input_values={"a": 1}, action="CREATE", status="IN_PROGRESS")
    assert (made["action"], made["status"], made["updated_at"]) == ("CREATE", "IN_PROGRESS", None)
    changed = software.update_software_deployment(
        CONTEXT, made["id"], {"status": "COMPLETE", "output_values": {"b": 2}, "action": None}
    )
    assert changed["updated_at"] is not None
    changes = {"status": "COMPLETE", "output_values": {"b": 2}, "updated_at": changed["updated_at"]}
    assert changed == made | changes
    assert software.show_software_deployment(CONTEXT, made["id"]) == changed
    assert software.list_software_deployments(CONTEXT, "s1") == [changed]
    assert software.list_software_deployments(CONTEXT, "s2") == []
    software.delete_software_deployment(CONTEXT, made["id"])
    assert software.list_software_deployments(CONTEXT, None) == []
    assert software.show_software_config(CONTEXT, config)["id"] == config


def test_what_a_new_deployment_is_unless_told_otherwise(software, config):
    made = deploy(software, config)
    assert (made["action"], made["status"], made["status_reason"]) == ("INIT", "COMPLETE", "")


def test_a_server_is_told_what_it_is_to_have_in_order_of_names(software):
    for name in ("c", "a", "b"):
        made = software.create_software_config(CONTEXT, {"name": name, "config": name})
        deploy(software, made["id"])
    assert [row["config"] for row in software.list_deployed_configs(CONTEXT, "s1")] == ["a", "b", "c"]
    assert software.list_deployed_configs(CONTEXT, "s2") == []


def test_a_config_that_is_deployed_stays(software, config):
    made = deploy(software, config)
    with pytest.raises(errors.Conflict, match="delete the deployments that refer to it first"):
        software.delete_software_config(CONTEXT, config)
    software.delete_software_deployment(CONTEXT, made["id"])
    software.delete_software_config(CONTEXT, config)
    with pytest.raises(errors.NotFound):
        software.show_software_config(CONTEXT, config)


def test_a_config_is_deleted_or_deployed_not_both(software):
    def delete(config):
        with contextlib.suppress(errors.Conflict):
            software.delete_software_config(CONTEXT, config)

    def deploy_it(config):
        with contextlib.suppress(errors.NotFound):
            deploy(software, config)

    for _ in range(5):
        config = software.create_software_config(CONTEXT, {"name": "a"})["id"]
        at_once(functools.partial(delete, config), functools.partial(deploy_it, config))
        known = {row["id"] for row in software.list_software_configs(CONTEXT, {})}
        deployed = {row["config_id"] for row in software.list_software_deployments(CONTEXT, None)}
        assert deployed <= known
        assert (config in deployed) is (config in known)


@pytest.mark.parametrize("config_id", ["nothing", "5c1f1f3e-5a0b-4d3e-8a51-3f1f63a3c0de"])
def test_what_is_not_there_cannot_be_deployed(software, config, config_id):
    with pytest.raises(errors.NotFound, match="The Software Config"):
        deploy(software, config_id)
    made = deploy(software, config)
    with pytest.raises(errors.NotFound, match="The Software Config"):
        software.update_software_deployment(CONTEXT, made["id"], {"config_id": config_id})


def test_a_project_knows_nothing_of_anothers(software, config):
    made = deploy(software, config)["id"]
    for refused in (
        lambda: software.show_software_config(STRANGER, config),
        lambda: software.delete_software_config(STRANGER, config),
        lambda: software.show_software_deployment(STRANGER, made),
        lambda: software.update_software_deployment(STRANGER, made, {"status": "FAILED"}),
        lambda: software.delete_software_deployment(STRANGER, made),
        lambda: software.create_software_deployment(STRANGER, {"config_id": config, "server_id": "s1"}),
    ):
        with pytest.raises(errors.NotFound):
            refused()
    assert software.list_software_deployments(STRANGER, "s1") == []
    assert software.list_deployed_configs(STRANGER, "s1") == []
    assert software.show_software_deployment(CONTEXT, made)["status"] == "COMPLETE"


def test_a_project_may_have_so_many_and_no_more(make_stage):
    software = make_stage(quotas=Quotas(configs=2, deployments=1)).software
    one, _two = (software.create_software_config(CONTEXT, {"name": name})["id"] for name in "ab")
    with pytest.raises(errors.RequestLimitExceeded, match="maximum software configs per project, 2"):
        software.create_software_config(CONTEXT, {"name": "c"})
    software.create_software_config(STRANGER, {"name": "theirs"})
    deploy(software, one)
    with pytest.raises(errors.RequestLimitExceeded, match="maximum software deployments per project, 1"):
        deploy(software, one)


def test_what_may_be_secret_is_encrypted(stage, software, config):
    made = software.create_software_config(CONTEXT, {"config": "topsecret", "options": {"a": "topsecret"}})
    deploy(software, made["id"], input_values={"password": "topsecret"})
    with stage.database.engine.connect() as connection:
        rows = [
            *connection.exec_driver_sql("SELECT * FROM software_config"),
            *connection.exec_driver_sql("SELECT * FROM software_deployment"),
        ]
    assert rows
    assert "topsecret" not in repr(rows)
    assert configs.get_config(stage.database, "tests", made["id"]).config == "topsecret"
