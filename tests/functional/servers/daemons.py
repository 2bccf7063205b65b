# SPDX-License-Identifier: Apache-2.0
"""heatconv as it runs in production: an API, engines and workers, each a process.

with Daemons(tmp_path, database_url=..., transport_url=...) as daemons:
    Client(daemons.endpoint)...
    daemons.kill("worker-2")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from heatconv.testing.keys import KEY
from tests.functional.servers import nursery
from tests.functional.servers.catalog import free_port
from tests.functional.servers.one_process import PLUGINS, fake_cloud
from tests.functional.servers.processes import Process, program

Options = Mapping[str, Mapping[str, object]]  #: {group: {option: value}}

#: Recovery within seconds: a test should not have to wait for a production's patience.
BRISK: Options = {
    "DEFAULT": {
        "heartbeat_interval": 0.5,
        "heartbeat_misses": 4,
        "recovery_interval": 0.5,
        "ready_grace": 1.5,
        "rpc_response_timeout": 20,
    },
}


class Daemons:
    """A running heatconv, and the fake cloud its sample resources live in.

    ``endpoint`` is where Heat's clients find it, ``cloud_url`` where the fake
    cloud is (``heatconv.testing.cloud_client.CloudControl``).  The environment
    of the daemons names it in ``HEATCONV_FAKE_CLOUD``.  Each daemon's output is in
    ``directory/NAME.log``.
    """

    def __init__(
        self,
        directory: Path,
        *,
        database_url: str,
        transport_url: str,
        engines: int = 2,
        workers: int = 3,
        pace: Options = BRISK,
        options: Options | None = None,
        notify: bool = False,
        port: int | None = None,
        watched: bool = False,
    ) -> None:
        """Take where they are to run; ``pace`` are the clocks they go by, ``{}`` for the product's own.

        ``notify``: the fake cloud publishes notifications on the same bus.
        ``port``: where the API listens, if not anywhere.
        ``watched``: each daemon serves its metrics, at ``monitoring_url``.
        """
        self._notify = transport_url if notify else None
        self._watched = watched
        self._addresses: dict[str, str] = {}
        self.directory = directory
        self.config_file = directory / "heatconv.conf"
        self.processes: dict[str, Process] = {}
        self._names = [
            *(f"engine-{number}" for number in range(1, engines + 1)),
            *(f"worker-{number}" for number in range(1, workers + 1)),
        ]
        port = port or free_port()
        self.endpoint = f"http://127.0.0.1:{port}/v1/default"
        self.cloud_url = ""
        fixed: Options = {
            "DEFAULT": {"transport_url": transport_url, "plugin_dirs": PLUGINS, "auth_encryption_key": KEY},
            "database": {"connection": database_url},
            "api": {"host": "127.0.0.1", "port": port},
        }
        self.configuration = merged(fixed, pace, options or {})
        self.configure()
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as until:
            # The cloud is needed to the end, and so ends last.
            self.cloud_url = until.enter_context(fake_cloud(self.directory, self._notify))
            until.callback(self._stop)
            command = [program("heatconv-manage"), "--config-file", str(self.config_file), "db_sync"]
            made = self._run("manage", command)
            assert made.wait() == 0, made.output
            for name in self._names:
                self.start(name)
            for name in self._names:
                self.await_up(name)
            # Last, so that its first call finds an engine and need not time out.
            self.start("api")
            self.await_up("api")
            self._exit = until.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._exit.close()

    def start(self, name: str) -> Process:
        """Start a daemon, such as ``worker-4``, or one that was killed, anew."""
        kind = name.partition("-")[0]
        command = [program(f"heatconv-{kind}"), "--config-file", str(self.config_file)]
        self.processes[name] = self._run(name, command)
        return self.processes[name]

    def await_up(self, name: str) -> None:
        """Wait until an engine or a worker says that it is up, or the API answers."""
        if name == "api":
            self._await_answer()
        else:
            self.processes[name].wait_for(r"heatconv-\w+ \S+ is up")

    def kill(self, name: str) -> None:
        """End a daemon at once, as a power failure would."""
        self.processes[name].kill()

    def engine_id(self, name: str) -> str | None:
        """Return what an engine or a worker signs with, if it has come as far as to say so."""
        known = re.search(r"heatconv-\w+ (\S+) is up", self.processes[name].output)
        return known and known[1]

    def monitoring_url(self, name: str) -> str:
        """Return where a daemon says how it is."""
        return f"http://{self._addresses[name]}"

    def configure(self, **options: object) -> None:
        """Write the configuration file, with these options in its first group."""
        self.configuration.setdefault("DEFAULT", {}).update(options)
        self.config_file.write_text(
            "\n".join(
                f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in its.items())
                for group, its in self.configuration.items()
            )
        )

    def names(self, kind: str) -> list[str]:
        """Return the names of the daemons of a kind that are running."""
        return [name for name, process in self.processes.items() if name.startswith(kind) and process.running]

    def logs(self) -> str:
        """Return what every daemon said."""
        return "\n".join(f"=== {name}\n{process.output}" for name, process in self.processes.items())

    def _run(self, name: str, command: list[str]) -> Process:
        return Process(command, self.directory / f"{name}.log", self.environment(name), start=nursery.start)

    def environment(self, name: str) -> dict[str, str]:
        """Return what a daemon finds in its environment: where the cloud is, and where to be watched."""
        environment = {"HEATCONV_FAKE_CLOUD": self.cloud_url}
        if self._watched:
            address = self._addresses.setdefault(name, f"127.0.0.1:{free_port()}")
            environment["OS_METRICS__LISTEN"] = address
        return environment

    def _await_answer(self) -> None:
        retry = Retry(total=80, backoff_factor=0.1, backoff_max=0.5, status_forcelist=(500, 502, 503, 504))
        with requests.Session() as session:
            session.trust_env = False  # a proxy must not come between us and loopback
            session.mount("http://", HTTPAdapter(max_retries=retry))
            try:
                answer = session.get(f"{self.endpoint}/stacks", timeout=30)
                if answer.status_code != requests.codes.unauthorized:  # it asks who we are: it is up
                    answer.raise_for_status()
            except requests.RequestException as problem:
                raise AssertionError(f"heatconv does not answer: {problem}\n{self.logs()}") from problem

    def _stop(self) -> None:
        for process in self.processes.values():
            process.kill()


def merged(*sources: Options) -> dict[str, dict[str, object]]:
    """Return the options of all of them; of the last that has it, where several have one."""
    merged: dict[str, dict[str, object]] = {}
    for source in sources:
        for group, options in source.items():
            merged.setdefault(group, {}).update(options)
    return merged
