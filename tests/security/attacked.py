# SPDX-License-Identifier: Apache-2.0
"""A heatconv of a test's own, in one process with little memory, that an attacker may try to end."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.functional.servers.one_process import PLUGINS
from tests.functional.servers.processes import Process, program

MEMORY = 3 << 30  #: bytes that the process may have
PATIENCE = 30  #: seconds an answer may take on a busy machine


class Attacked:
    """The process, and what may be asked of it."""

    def __init__(self, process: Process, endpoint: str) -> None:
        self.process = process
        self.endpoint = endpoint
        self.asked = 0
        self._session = requests.Session()
        self._session.trust_env = False

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        """Return the answer to a request below the project."""
        self.asked += 1
        options = {"timeout": PATIENCE, "allow_redirects": False, **options}
        return self._session.request(method, f"{self.endpoint}{path}", **options)

    def post(self, path: str, body: Any, *, timeout: float = PATIENCE) -> requests.Response:
        """Return the answer to JSON that was sent to a path below the project."""
        return self.ask("POST", path, json=body, timeout=timeout)

    def preview(self, template: Any, *, timeout: float = PATIENCE, **body: Any) -> requests.Response:
        """Return what is said of a stack that nobody makes."""
        body |= {"stack_name": "attacked", "template": template}
        return self.post("/stacks/preview", body, timeout=timeout)

    def id_of(self, name: str) -> str:
        """Return the id of a living stack."""
        return str(self._stacks()[name]["id"])

    def settled(self, name: str, *, patience: float = PATIENCE) -> tuple[str, str] | None:
        """Return the state of a stack and the reason once nothing is under way; None if it is gone."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            found = self._stacks().get(name)
            if found is None:
                return None
            if not found["stack_status"].endswith("IN_PROGRESS"):
                return found["stack_status"], found["stack_status_reason"]
            time.sleep(0.05)
        raise AssertionError(found)

    def _stacks(self) -> dict[str, Any]:
        return {each["stack_name"]: each for each in self.ask("GET", "/stacks").json()["stacks"]}

    def assert_well(self) -> None:
        """Assert that the process is there, and answers."""
        root = self.endpoint.partition("/v1/")[0]
        assert self.process.running, self.process.output
        assert self._session.get(f"{root}/healthcheck", timeout=PATIENCE).status_code == 200
        assert self.ask("GET", "/stacks").status_code == 200

    def most_memory(self) -> int:
        """Return the most bytes that the process ever had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
        assert found
        return int(found[1]) * 1024


@contextmanager
def attacked(directory: Path, settings: str = "", plugins: Path = PLUGINS) -> Iterator[Attacked]:
    """Run heatconv-all with its state and its configuration in a directory, and with some plugins."""
    config = directory / "heatconv.conf"
    config.write_text(settings)
    command = [program("heatconv-all"), "--host", "127.0.0.1", "--port", "0"]
    command += ["--state-dir", str(directory / "state"), "--plugin-dir", str(plugins)]
    process = Process([*command, "--config-file", str(config)], directory / "heatconv-all.log")
    try:
        endpoint = process.wait_for(r"heatconv is up: (\S+)")[1]
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (MEMORY, MEMORY))
        yield Attacked(process, endpoint)
    finally:
        process.stop()
