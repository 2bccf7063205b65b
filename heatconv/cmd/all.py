# SPDX-License-Identifier: Apache-2.0
"""heatconv-all: everything in one process, on an SQLite file and a bus in memory.  No login."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.cmd import compose
from heatconv.cmd.daemon import Daemon, leave
from heatconv.db import migration
from heatconv.db.session import Database
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
    me = Daemon(
        conf,
        database=Database.from_url(f"sqlite:///{state}/heatconv.sqlite"),
        bus=Bus(conf, "fake://"),
        binary="heatconv-all",
        topic="heatconv-all",
    )
    migration.upgrade(me.database)
    types = compose.registry(me)
    me.sign_on()
    worker = compose.worker(me, types, "threading")
    engine = compose.engine(me, types, "threading")
    # One process on this database: whoever signed on before is gone, and what it held is free.
    engine.recovery.tick()
    api = compose.ApiService(conf, me.bus)
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: threading.Thread(target=api.stop).start())
    host, port = api.address
    print(f"heatconv is up: http://{host}:{port}/v1/default", flush=True)  # noqa: T201 - whoever waits reads it
    api.serve()
    engine.stop()
    worker.stop()
    me.sign_off()
    leave()
