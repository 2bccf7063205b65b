# SPDX-License-Identifier: Apache-2.0
"""heatconv's daemons with what chaos needs to know of them: whose lock is whose, and how much they take."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import sqlalchemy as sa

from heatconv.db.plumbing.types import give_keyring
from heatconv.testing.keys import KEYRING
from tests.chaos.daemon import VARIABLE
from tests.chaos.proxy import Proxy
from tests.chaos.takeovers import Takeovers
from tests.functional.servers.daemons import Daemons, Options, merged
from tests.functional.servers.processes import Process

ROOT = Path(__file__).parents[2]

#: A lost call is asked again in good time, but no daemon stops for as long as that.
OPTIONS: Options = {
    "DEFAULT": {"rpc_response_timeout": 10},
    "worker": {"threads": 16},
    "engine": {"threads": 8},
    # Whatever drifts is found while it still matters, and healed however often it does.
    "observer": {
        "interval": 5,
        "tick": 0.5,
        "max_heals_per_hour": 1_000_000,
        "max_heals_per_resource": 1_000_000,
    },
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What daemons need to know of the servers beyond their URLs: all of them, or each by its name."""

    options: Options = field(default_factory=dict)
    environment: Callable[[str], Mapping[str, str]] = lambda _name: {}


class Deployment(Daemons):
    """Daemons on a bus with faults, on one database."""

    def __init__(
        self,
        directory: Path,
        *,
        database_url: str,
        transport_url: str,
        proxies: Sequence[Proxy] = (),
        setting: Setting | None = None,
    ) -> None:
        """Take the servers' own URLs, and the proxies, in the same order, that daemons are to use."""
        lines = [proxy.url for proxy in proxies] or [database_url, transport_url]
        self._setting = setting or Setting()
        super().__init__(
            directory,
            database_url=lines[0],
            transport_url=lines[1],
            options=merged(OPTIONS, self._setting.options),
        )
        self.proxies = proxies
        self.database = sa.create_engine(database_url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        give_keyring(self.database.dialect, KEYRING)
        self.vhost = transport_url.rpartition("/")[2] or "/"  # the URL may name several hosts
        self.transport_url = transport_url
        self._faults = directory / "faults.json"
        self._writing = threading.Lock()
        self.set_faults()
        self.takeovers = Takeovers(self.database)

    def set_faults(self, **faults: float) -> None:
        """Let messages meet with these faults from now on (see ``heatconv.testing.faults``)."""
        with self._writing:
            fresh = self._faults.with_suffix(".new")
            fresh.write_text(json.dumps(faults))
            fresh.replace(self._faults)

    def _run(self, name: str, command: list[str]) -> Process:
        kind = name.partition("-")[0]
        if kind != "api":
            command = [sys.executable, "-m", "tests.chaos.daemon", kind, *command[1:]]
        environment = {
            "HEATCONV_FAKE_CLOUD": self.cloud_url,
            "PYTHONPATH": str(ROOT),
            VARIABLE: str(self._faults),
            **self._setting.environment(name),
        }
        return Process(command, self.directory / f"{name}.log", environment)

    def kill(self, name: str) -> None:
        """End a daemon at once, and watch when what it held moves again."""
        engine_id = self.engine_id(name)
        super().kill(name)
        if engine_id is not None:
            self.takeovers.watch(engine_id)

    # -- what they take --------------------------------------------------------------------------

    def costs(self) -> Sequence[str]:
        """Return a line on the memory and the connections of each daemon."""
        return [
            f"{name:10} {_memory(process.pid) / 2**20:6.0f} MiB {_connections(process.pid):4} connections"
            for name, process in sorted(self.processes.items())
            if process.running
        ]


def _family(pid: int) -> list[psutil.Process]:
    parent = psutil.Process(pid)
    return [parent, *parent.children(recursive=True)]


def _memory(pid: int) -> int:
    return sum(process.memory_info().rss for process in _family(pid))


def _connections(pid: int) -> int:
    return sum(len(process.net_connections(kind="tcp")) for process in _family(pid))
