# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows works as shown."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from heatconv.resources.context import Context
from heatconv.resources.registry import Registry
from tests.functional.servers.processes import program

TOP = Path(__file__).parents[2]
EXAMPLES = sorted((TOP / "etc/heatconv/examples").glob("*.yaml"))


@pytest.fixture
def heatconv(endpoint):
    def run(*arguments):
        command = [program("heatconv"), "--endpoint", endpoint, *map(str, arguments)]
        return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout

    return run


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_a_valid_template(heatconv, path):
    assert json.loads(heatconv("template", "validate", "-t", path, "-f", "json"))["Parameters"]


def test_the_quickstart_does_what_it_says(heatconv):
    heatconv("stack", "create", "hello", "-t", "etc/heatconv/examples/hello.yaml", "--wait")
    assert "Hello, world!" in heatconv("stack", "output", "list", "hello")
    assert "secret" in heatconv("stack", "graph", "hello")

    heatconv("stack", "update", "hello", "--existing", "--parameter", "name=Mars", "--wait")
    assert "Hello, Mars!" in heatconv("stack", "output", "show", "hello", "greeting")

    heatconv("stack", "delete", "hello", "--wait")
    assert "hello" not in heatconv("stack", "list")


def test_the_plugin_of_the_guide_is_a_resource_type():
    types = Registry.load([str(TOP / "doc/source/howto/plugins")])

    lamp = types.describe("Local::Lamp", Context(project_id="mine"))

    assert lamp["properties"]["room"]["required"] is True
    assert lamp["properties"]["colour"]["update_allowed"] is True
    assert "path" in lamp["attributes"]
