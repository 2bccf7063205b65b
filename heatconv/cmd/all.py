# SPDX-License-Identifier: Apache-2.0
"""heatconv-all: everything in one process, on an SQLite file and a bus in memory.  No login."""

from __future__ import annotations

from heatconv.cmd import green

green.stay_native()

# What follows imports eventlet.
import signal  # noqa: E402
import stat  # noqa: E402
import sys  # noqa: E402
from contextlib import suppress  # noqa: E402
from dataclasses import replace  # noqa: E402
from pathlib import Path  # noqa: E402

from oslo_config import cfg  # noqa: E402

from heatconv import conf as configuration  # noqa: E402
from heatconv.api import auth, page  # noqa: E402
from heatconv.api.policy import Policy  # noqa: E402
from heatconv.cmd import keys  # noqa: E402
from heatconv.cmd.compose import common, engine, worker  # noqa: E402
from heatconv.cmd.compose.api import ApiService  # noqa: E402
from heatconv.cmd.daemon import Daemon, collect_less, keep_private, leave  # noqa: E402
from heatconv.crypto import Keyring  # noqa: E402
from heatconv.db.plumbing import migration, sealing  # noqa: E402
from heatconv.db.plumbing.session import Database  # noqa: E402
from heatconv.resources.registry import Registry  # noqa: E402
from heatconv.rpc import memory  # noqa: E402
from heatconv.rpc.bus import ENGINE_TOPIC, Bus  # noqa: E402
from heatconv.rpc.context import RequestContext  # noqa: E402

DATABASE = "heatconv.sqlite"

OPTIONS = [
    cfg.HostAddressOpt("host", default="127.0.0.1", help="Address to listen on."),
    cfg.PortOpt("port", default=8004, help="Port to listen on; 0 takes a free one."),
    cfg.StrOpt("state-dir", default="heatconv-state", help="Directory of the database; made if need be."),
    cfg.MultiStrOpt("plugin-dir", default=[], help="Directory of resource plugins; may be repeated."),
    cfg.StrOpt(
        "os-cloud", help="Cloud of clouds.yaml whose resources stacks may have; all act by its login."
    ),
]


def main() -> None:
    """Serve until told to stop."""
    keep_private()
    conf = configuration.load(sys.argv[1:], prog="heatconv-all", cli_opts=OPTIONS, default_config_files=[])
    conf.set_override("host", conf.host, group="api")
    conf.set_override("port", conf.port, group="api")
    conf.set_override("plugin_dirs", [*conf.plugin_dirs, *conf.plugin_dir])
    state = _state(conf.state_dir)
    with keys.reporting_misconfiguration("heatconv-all"):
        keyring = keys.kept_in(state, conf)
        strategy = auth.strategy(conf)
        database = _database(state, keyring)
        if conf.accept_unbound_values:
            _bind(database)
        sealing.check(database)
    me = Daemon(
        conf,
        database=database,
        bus=Bus(conf, memory.URL),
        binary="heatconv-all",
        topic="heatconv-all",
    )
    types = common.registry(me)
    if conf.os_cloud:
        with keys.reporting_misconfiguration("heatconv-all"):
            _adapt(types, conf)
            strategy = _limited(strategy, types, conf)
    me.watched(topic=ENGINE_TOPIC)
    me.sign_on()
    # The parts that make URLs have to know its port; a client that asks before all is up waits.
    api = ApiService(conf, me.bus, keyring, strategy)
    host, port = api.address
    conf.set_override("port", port, group="api")
    working = worker.start(me, types, "threading")
    planning = engine.start(me, types, "threading")
    # One process on this database: a process that signed on before is gone, and its rows are free.
    planning.engine.recovery.tick()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: api.stop())
    collect_less()
    print(f"heatconv is up: http://{host}:{port}/v1/default", flush=True)  # noqa: T201 - a program that waits for it reads it
    if conf.api.page:
        print(f"To look at it in a browser: http://{host}:{port}{page.URL}/", flush=True)  # noqa: T201 - likewise
    api.serve()
    planning.stop()
    working.stop()
    me.sign_off()
    leave()


def _adapt(types: Registry, conf: cfg.ConfigOpts) -> None:
    """Let stacks have the resources of a cloud.

    Raises:
        Misconfigured: its plugins are not installed, or it lets nobody in.
    """
    from heatconv.openstack import adapter  # noqa: PLC0415 - slow, and for nothing without a cloud

    adapter.adapt(types, conf, conf.os_cloud)


def _limited(strategy: auth.Strategy, types: Registry, conf: cfg.ConfigOpts) -> auth.Strategy:
    """Return a strategy whose callers may use the types that the cloud's user may use, and no others."""
    user = types.asker("default")
    refused = Policy(conf).refused_types(RequestContext(project_id=user.project_id, roles=user.roles))
    return lambda request, project: replace(strategy(request, project), refused_types=refused)


def _state(path: str) -> Path:
    """Return a directory that is there, and nobody else's to look into if it is kept for this."""
    state = Path(path).resolve()
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    # One that others use as well, such as /tmp, is not ours to close.
    others_too = state.stat().st_mode & stat.S_ISVTX or state == Path.home()
    names = {each.name for each in state.iterdir()}
    if not others_too and (not names or names & {DATABASE, keys.KEY_FILE}):
        with suppress(PermissionError):
            state.chmod(0o700)
    return state


def _database(state: Path, keyring: Keyring) -> Database:
    """Return the database in a directory, with the newest tables."""
    database = Database.from_url(f"sqlite:///{state}/{DATABASE}", keyring)
    migration.upgrade(database)
    migration.check(database)  # a later release may have been at it
    return database


def _bind(database: Database) -> None:
    """Bind each secret of an earlier release to its row: nobody else has this database's key at hand."""
    for table in sealing.sealed_tables():
        for _progress in sealing.renew(database, table):
            pass
