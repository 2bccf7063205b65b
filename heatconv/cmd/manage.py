# SPDX-License-Identifier: Apache-2.0
"""heatconv-manage: what an operator does to the database."""

from __future__ import annotations

import sys
from collections.abc import Callable

from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.db import migration, services
from heatconv.db.session import Database


def main() -> None:
    """Carry out one command."""
    command = cfg.SubCommandOpt("command", title="Commands", handler=_add_commands)
    conf = configuration.load(sys.argv[1:], prog="heatconv-manage", cli_opts=[command])
    conf.command.run(conf, Database.from_conf(conf))


def _add_commands(parsers: object) -> None:
    for name, run in _COMMANDS.items():
        parser = parsers.add_parser(name, help=run.__doc__)  # type: ignore[attr-defined]  # argparse's action
        parser.set_defaults(run=run)
        if name == "service":
            parser.add_argument("what", choices=["list", "clean"])


def _db_sync(_conf: cfg.ConfigOpts, database: Database) -> None:
    """Bring the database to the newest schema."""
    migration.upgrade(database)
    print(f"The database is at {migration.version(database)}.")  # noqa: T201 - a command's answer


def _db_version(_conf: cfg.ConfigOpts, database: Database) -> None:
    """Show the schema the database has."""
    print(migration.version(database) or "none")  # noqa: T201 - a command's answer


def _service(conf: cfg.ConfigOpts, database: Database) -> None:
    """List the daemons that signed on, or drop those that are dead."""
    dead_after = conf.heartbeat_interval * conf.heartbeat_misses
    if conf.command.what == "clean":
        dropped = services.clean(database, dead_after=dead_after)
        print(f"{dropped} dead services dropped.")  # noqa: T201 - a command's answer
        return
    for service in services.list_services(database, dead_after=dead_after):
        state = "up" if service.alive else "down"
        print(service.engine_id, service.binary, service.host, state, service.updated_at)  # noqa: T201


_COMMANDS: dict[str, Callable[[cfg.ConfigOpts, Database], None]] = {
    "db_sync": _db_sync,
    "db_version": _db_version,
    "service": _service,
}
