# SPDX-License-Identifier: Apache-2.0
"""heatconv-all: everything in one process, on an SQLite file and a bus in memory.  No login."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.api import auth
from heatconv.cmd import keys
from heatconv.cmd.compose import common, engine, worker
from heatconv.cmd.compose.api import ApiService
from heatconv.cmd.daemon import Daemon, collect_less, leave
from heatconv.crypto import Keyring
from heatconv.db import migration, sealing
from heatconv.db.session import Database
from heatconv.rpc import memory
from heatconv.rpc.bus import Bus

OPTIONS = [
    cfg.HostAddressOpt("host", default="127.0.0.1", help="Address to listen on."),
    cfg.PortOpt("port", default=8004, help="Port to listen on; 0 takes a free one."),
    cfg.StrOpt("state-dir", default="heatconv-state", help="Directory of the database; made if need be."),
    cfg.MultiStrOpt("plugin-dir", default=[], help="Directory of resource plugins; may be repeated."),
]


def main() -> None:
    """Serve until told to stop."""
    conf = configuration.load(sys.argv[1:], prog="heatconv-all", cli_opts=OPTIONS, default_config_files=[])
    conf.set_override("host", conf.host, group="api")
    conf.set_override("port", conf.port, group="api")
    conf.set_override("plugin_dirs", [*conf.plugin_dirs, *conf.plugin_dir])
    state = Path(conf.state_dir).resolve()
    state.mkdir(parents=True, exist_ok=True)
    with keys.told("heatconv-all"):
        keyring = keys.kept_in(state, conf)
        strategy = auth.strategy(conf)
        database = _database(state, keyring)
    me = Daemon(
        conf,
        database=database,
        bus=Bus(conf, memory.URL),
        binary="heatconv-all",
        topic="heatconv-all",
    )
    types = common.registry(me)
    me.sign_on()
    # Its port has to be known to who makes URLs; whoever asks before all is up waits.
    api = ApiService(conf, me.bus, keyring, strategy)
    host, port = api.address
    conf.set_override("port", port, group="api")
    working = worker.start(me, types, "threading")
    planning = engine.start(me, types, "threading")
    # One process on this database: whoever signed on before is gone, and what it held is free.
    planning.recovery.tick()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: threading.Thread(target=api.stop).start())
    collect_less()
    print(f"heatconv is up: http://{host}:{port}/v1/default", flush=True)  # noqa: T201 - whoever waits reads it
    api.serve()
    planning.stop()
    working.stop()
    me.sign_off()
    leave()


def _database(state: Path, keyring: Keyring) -> Database:
    """Return the database in a directory, with the newest tables."""
    database = Database.from_url(f"sqlite:///{state}/heatconv.sqlite", keyring)
    migration.upgrade(database)
    sealing.check(database)
    return database
