# SPDX-License-Identifier: Apache-2.0
"""What the README shows for a cloud works as shown."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cloud.world import servers_of
from tests.functional.servers.processes import program

TOP = Path(__file__).parents[2]


def test_the_example_makes_a_server(service, stack, cloud, smallest):
    def heatconv(*arguments):
        command = [program("heatconv"), "--endpoint", service.endpoint, *arguments]
        return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout

    parameters = [f"--parameter={name}={value}" for name, value in smallest.items()]
    example = "etc/heatconv/examples/cloud/server.yaml"
    heatconv("stack", "create", stack.name, "-t", example, *parameters, "--wait")
    (server,) = servers_of(cloud)
    assert server.status == "ACTIVE"
    assert stack.output("address") in heatconv("stack", "output", "list", stack.name)
    heatconv("stack", "delete", stack.name, "--wait")
    assert servers_of(cloud) == []
