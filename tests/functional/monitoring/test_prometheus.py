# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes daemons, by the alert rules that we ship."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import closing

import pytest
import yaml

from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial
from tests.functional.monitoring.scraping import get
from tests.functional.monitoring.test_rules import RULES
from tests.functional.servers.catalog import free_port
from tests.functional.servers.processes import Process
from tests.functional.waiting import until

OFTEN = "250ms"
MISSING = "prometheus is not installed: apt-get install prometheus"


class Prometheus:
    """A server of the test's own, to which a second is as long as minutes are to an operator's."""

    def __init__(self, directory, targets):
        rules = directory / "alerts.yaml"
        rules.write_text(re.sub(r"for: \d+m\b", "for: 1s", RULES.read_text()))
        configuration = {
            "global": {"scrape_interval": OFTEN, "evaluation_interval": OFTEN},
            "rule_files": [str(rules)],
            "scrape_configs": [{"job_name": "heatconv", "static_configs": [{"targets": targets}]}],
        }
        file = directory / "prometheus.yaml"
        file.write_text(yaml.safe_dump(configuration))
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}/api/v1"
        command = [
            *("prometheus", f"--config.file={file}", f"--storage.tsdb.path={directory / 'tsdb'}"),
            f"--web.listen-address={address}",
        ]
        self._process = Process(command, directory / "prometheus.log")
        self._process.wait_for("Server is ready")

    def close(self):
        self._process.kill()

    def healthy(self):
        """Return how many targets answer."""
        targets = get(f"{self.url}/targets").json()["data"]["activeTargets"]
        return sum(target["health"] == "up" for target in targets)

    def firing(self):
        """Return the names of the alerts that fire."""
        alerts = get(f"{self.url}/alerts").json()["data"]["alerts"]
        return {each["labels"]["alertname"] for each in alerts if each["state"] == "firing"}

    def until_firing(self, *names):
        """Wait until just these alerts fire."""
        return until(lambda: self.firing() == set(names) or None, lambda: (self.firing(), names))


@pytest.fixture
def daemons(run_daemons, fresh_database, rabbit_url):
    if shutil.which("prometheus") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    return run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=1,
        workers=1,
        watched=True,
    )


@pytest.mark.timeout(300)
def test_a_worker_that_dies_is_reported_until_another_is_there(daemons, tmp_path):
    names = ["api", "engine-1", "worker-1"]
    targets = [daemons.monitoring_url(name).removeprefix("http://") for name in names]
    with (
        closing(Prometheus(tmp_path, targets)) as prometheus,
        closing(Trial(daemons, "web", Template(A=thing("a")))) as trial,
    ):
        until(lambda: prometheus.healthy() == len(targets) or None)
        trial.create()
        trial.arrive()
        prometheus.until_firing()

        daemons.kill("worker-1")
        prometheus.until_firing("HeatconvTargetDown", "HeatconvDaemonDead", "HeatconvNoWorker")

        daemons.start("worker-1")
        daemons.await_up("worker-1")
        prometheus.until_firing()
        seen = get(f"{prometheus.url}/query?query=heatconv_traversals_total").json()["data"]["result"]
        assert any(each["value"][1] == "1" for each in seen), json.dumps(seen)
