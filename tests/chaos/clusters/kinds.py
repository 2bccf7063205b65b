# SPDX-License-Identifier: Apache-2.0
"""Each kind of cluster, set up as the how-to on clusters says, with the other servers beside it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.clusters.beside import Troubles
from tests.chaos.clusters.galera import Galera
from tests.chaos.deployment import Setting
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import RABBITMQ


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """Where a run takes place."""

    database_url: str  #: for who judges
    transport_url: str
    troubles: Troubles


#: Takes a directory, what the choices follow from, the settings to leave out, and until when it is there.
Kind = Callable[[Path, str, frozenset[str], ExitStack], Grounds]


def _galera(directory: Path, start: str, without: frozenset[str], until: ExitStack) -> Grounds:
    writers = 1 if "writers" in without else 3
    cluster = until.enter_context(Galera(directory, start, writers=writers))
    urls: dict[str, str] = {}

    def environment(daemon: str) -> Mapping[str, str]:
        preferred = zlib.crc32(daemon.encode()) if "-" not in daemon else int(daemon[-1])
        return {"OS_DATABASE__CONNECTION": urls.setdefault(daemon, cluster.url(preferred))}

    wait = {} if "wsrep_sync_wait" in without else {"mysql_wsrep_sync_wait": 1}
    troubles = Troubles(
        cluster,
        Setting(options={"database": wait}, environment=environment),
        start,
        notes=lambda: [
            f"{what}: {', '.join(cluster.counted(what))}"
            for what in ("wsrep_local_commits", "wsrep_local_cert_failures", "wsrep_local_bf_aborts")
        ],
    )
    return Grounds(
        database_url=cluster.url(0),
        transport_url=own_bus(RABBITMQ.provide(until), until),
        troubles=troubles,
    )


KINDS: Mapping[str, Kind] = {"galera": _galera}
