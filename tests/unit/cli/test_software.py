# SPDX-License-Identifier: Apache-2.0
"""Software configs and deployments."""

from __future__ import annotations

import pytest

from heatconv import errors
from tests.unit.api.fake_engine import NOW, FakeEngine


class SoftwareEngine(FakeEngine):
    """An engine that keeps configs and deployments in dicts."""

    def __init__(self):
        super().__init__()
        self.configs = {}
        self.deployments = {}

    def _list_software_configs(self, _context, query):
        self.queries.append(query)
        return list(self.configs.values())

    def _create_software_config(self, context, values):
        config_id = f"c{len(self.configs)}"
        self.configs[config_id] = {
            "id": config_id,
            "project": context.project_id,
            "created_at": NOW,
            **values,
        }
        return self.configs[config_id]

    def _show_software_config(self, _context, config):
        if config not in self.configs:
            raise errors.NotFound(entity="Software Config", name=config)
        return self.configs[config]

    def _delete_software_config(self, _context, config):
        del self.configs[config]

    def _list_software_deployments(self, _context, server):
        return [each for each in self.deployments.values() if server in {None, each["server_id"]}]

    def _list_deployed_configs(self, context, server):
        found = self._list_software_deployments(context, server)
        return [self.configs[each["config_id"]] for each in found]

    def _create_software_deployment(self, _context, values):
        deployment_id = f"d{len(self.deployments)}"
        unset = {"output_values": None, "created_at": NOW, "updated_at": None}
        self.deployments[deployment_id] = {"id": deployment_id, **unset, **values}
        return self.deployments[deployment_id]

    def _show_software_deployment(self, _context, deployment):
        return self.deployments[deployment]

    def _update_software_deployment(self, _context, deployment, values):
        self.deployments[deployment] |= {**values, "updated_at": NOW}
        return self.deployments[deployment]

    def _delete_software_deployment(self, _context, deployment):
        del self.deployments[deployment]


@pytest.fixture
def engine():
    return SoftwareEngine()


@pytest.fixture
def config(run, tmp_path):
    (tmp_path / "run.sh").write_text("echo $who\n")
    (tmp_path / "definition.yaml").write_text("inputs: [{name: who}]\noptions: {shell: sh}\n")
    return run(
        *("software", "config", "create", "greet", "--group", "script"),
        *("--config-file", str(tmp_path / "run.sh")),
        *("--definition-file", str(tmp_path / "definition.yaml")),
        *("-f", "json"),
    ).json


@pytest.fixture
def deployment(run, config):
    return run(
        *("software", "deployment", "create", "--config", config["id"], "--server", "s1"),
        *("--input-value", "who=you", "-f", "json"),
    ).json


def test_configs(run, engine, config):
    assert (config["name"], config["group"], config["config"]) == ("greet", "script", "echo $who\n")
    assert (config["inputs"], config["options"]) == ([{"name": "who"}], {"shell": "sh"})
    (listed,) = run("software", "config", "list", "--limit", "1", "-f", "json").json
    assert (listed["name"], engine.queries[-1]["limit"]) == ("greet", 1)
    assert run("software", "config", "show", config["id"], "-f", "json").json == config
    assert run("software", "config", "delete", config["id"]).code == 0
    ran = run("software", "config", "show", config["id"])
    assert (ran.code, ran.err) == (1, "The Software Config (c0) could not be found.\n")


def test_deployments(run, engine, deployment):
    assert (deployment["status"], deployment["input_values"]) == ("IN_PROGRESS", {"who": "you"})
    (config,) = run("software", "deployment", "metadata", "s1", "-f", "json").json
    assert config["name"] == "greet"
    changed = run(
        *("software", "deployment", "update", deployment["id"], "--status", "COMPLETE"),
        *("--output-values", '{"answer": 42}', "-f", "json"),
    ).json
    assert changed["output_values"] == {"answer": 42}
    assert run("software", "deployment", "show", deployment["id"], "-f", "json").json == changed
    (listed,) = run("software", "deployment", "list", "--server", "s1", "-f", "json").json
    assert listed["status"] == "COMPLETE"
    assert run("software", "deployment", "list", "--server", "s2", "-f", "json").json == []
    assert run("software", "deployment", "delete", deployment["id"]).code == 0
    assert engine.deployments == {}
