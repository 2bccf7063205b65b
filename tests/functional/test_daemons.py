# SPDX-License-Identifier: Apache-2.0
"""heatconv as daemons, on a real bus and each real database."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from heatconv.client.http import Client
from tests.functional.servers.processes import program

HELLO = Path(__file__).parents[2] / "etc/heatconv/examples/hello.yaml"


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_stack_lives_and_dies_on_daemons(run_daemons, fresh_database, rabbit_url, kind):
    daemons = run_daemons(database_url=fresh_database(kind), transport_url=rabbit_url, engines=2, workers=2)

    def heatconv(*arguments):
        command = [program("heatconv"), "--endpoint", daemons.endpoint, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{daemons.logs()}"
        return done.stdout

    heatconv("stack", "create", "hello", "-t", str(HELLO), "--wait")
    daemons.kill("worker-1")
    daemons.kill("engine-1")
    heatconv("stack", "update", "hello", "--existing", "--parameter", "name=Mars", "--wait")

    output = json.loads(heatconv("stack", "output", "show", "hello", "greeting", "-f", "json"))
    assert output["output_value"].startswith("Hello, Mars!")
    client = Client(daemons.endpoint)
    assert {service["binary"] for service in client.list_services()} >= {"heatconv-engine", "heatconv-worker"}
    client.close()
    heatconv("stack", "delete", "hello", "--wait")
