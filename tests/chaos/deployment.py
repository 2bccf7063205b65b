# SPDX-License-Identifier: Apache-2.0
"""heatconv's daemons with what chaos needs to know of them: whose lock is whose, and how much they take."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa

from heatconv.db.tables import resource, sync_point
from heatconv.model.states import SyncState
from tests.chaos.daemon import VARIABLE
from tests.chaos.proxy import Proxy
from tests.functional.servers.daemons import Daemons, Options
from tests.functional.servers.processes import Process

ROOT = Path(__file__).parents[2]
LOOK = 0.1  #: seconds between two looks at what a dead worker has left

#: A lost call is asked again in good time, but no daemon stops for as long as that.
OPTIONS: Options = {
    "DEFAULT": {"rpc_response_timeout": 10},
    "worker": {"threads": 16},
    "engine": {"threads": 8},
}


class Deployment(Daemons):
    """Daemons on a bus with faults, on one database."""

    def __init__(
        self, directory: Path, *, database_url: str, transport_url: str, proxies: Sequence[Proxy] = ()
    ) -> None:
        """Take the servers' own URLs, and the proxies, in the same order, that daemons are to use."""
        lines = [proxy.url for proxy in proxies] or [database_url, transport_url]
        super().__init__(directory, database_url=lines[0], transport_url=lines[1], options=OPTIONS)
        self.proxies = proxies
        self.database = sa.create_engine(database_url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        self.vhost = sa.make_url(transport_url).database or "/"
        self.transport_url = transport_url
        self._faults = directory / "faults.json"
        self.set_faults()
        self.takeovers: list[float] = []  #: seconds from a worker's death until what it held moved again

    def set_faults(self, **faults: float) -> None:
        """Let messages meet with these faults from now on (see ``heatconv.testing.faults``)."""
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
        }
        return Process(command, self.directory / f"{name}.log", environment)

    # -- what a killed worker held -------------------------------------------------------------

    def kill(self, name: str) -> None:
        """End a daemon at once, and watch when what it held moves again."""
        known = re.search(r"heatconv-worker (\S+) is up", self.processes[name].output)
        super().kill(name)
        if known is not None:
            threading.Thread(target=self._watch, args=(known[1],), daemon=True).start()

    def _watch(self, engine_id: str) -> None:
        died = time.monotonic()
        rows = self._scalars(sa.select(resource.c.id).where(resource.c.engine_id == engine_id))
        lies_still = sa.or_(
            resource.c.engine_id == engine_id,
            sa.and_(resource.c.engine_id.is_(None), sync_point.c.state == SyncState.READY),
        )
        lying = (
            sa.select(resource.c.id)
            .select_from(resource.outerjoin(sync_point, sync_point.c.acts_on == resource.c.id))
            .where(resource.c.id.in_(rows), lies_still)
        )
        while rows and self._scalars(lying):
            time.sleep(LOOK)
        if rows:
            self.takeovers.append(time.monotonic() - died)

    def _scalars(self, query: sa.Select[Any]) -> Sequence[str]:
        while True:
            try:
                with self.database.connect() as connection:
                    return connection.scalars(query).all()
            except sa.exc.DBAPIError:
                time.sleep(LOOK)  # that misfortune is ours, too

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
