# SPDX-License-Identifier: Apache-2.0
"""Each kind of cluster, set up as the how-to on clusters says, with the other servers beside it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.clusters.beside import Troubles
from tests.chaos.clusters.galera import COUNTERS, Galera
from tests.chaos.clusters.postgresql import PostgreSQL
from tests.chaos.clusters.rabbitmq import RabbitMQ
from tests.chaos.deployment import Setting
from tests.functional.servers import databases as databases_of
from tests.functional.servers import schema
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import POSTGRESQL, RABBITMQ
from tests.functional.servers.databases import Databases


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

    wait = {"mysql_wsrep_sync_wait": 0} if "wsrep_sync_wait" in without else {}
    troubles = Troubles(
        cluster,
        Setting(options={"database": wait}, environment=environment),
        start,
        notes=lambda: [", ".join(f"{cluster.counted(name)} {name}" for name in COUNTERS)],
    )
    return Grounds(
        database_url=cluster.url(0),
        transport_url=own_bus(RABBITMQ.provide(until), until),
        troubles=troubles,
    )


def _rabbitmq(directory: Path, start: str, without: frozenset[str], until: ExitStack) -> Grounds:
    options: dict[str, object] = {
        "rabbit_quorum_queue": "quorum" not in without,
        "rabbit_transient_quorum_queue": "quorum" not in without and "transient_quorum" not in without,
    }
    if "heartbeat" not in without:
        options["heartbeat_timeout_threshold"] = 15
    handling = {"cluster_partition_handling": "ignore"} if "pause_minority" in without else {}
    cluster = until.enter_context(RabbitMQ(directory, start, **handling))
    databases = Databases(databases_of.PostgreSQL(POSTGRESQL.provide(until)), schema.migrate)
    until.callback(databases.close)
    return Grounds(
        database_url=databases.fresh(),
        transport_url=cluster.url,
        troubles=Troubles(
            cluster, Setting(options={"oslo_messaging_rabbit": options}), start, cluster.queues
        ),
    )


def _postgresql(directory: Path, start: str, without: frozenset[str], until: ExitStack) -> Grounds:
    cluster = until.enter_context(PostgreSQL(directory, start, synchronous="synchronous" not in without))
    return Grounds(
        database_url=cluster.url,
        transport_url=own_bus(RABBITMQ.provide(until), until),
        troubles=Troubles(cluster, Setting(), start, lambda: [cluster.acknowledged.line]),
    )


KINDS: Mapping[str, Kind] = {"galera": _galera, "postgresql": _postgresql, "rabbitmq": _rabbitmq}
