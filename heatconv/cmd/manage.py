# SPDX-License-Identifier: Apache-2.0
"""heatconv-manage: what an operator does to the database."""

from __future__ import annotations

import sys
from collections.abc import Callable

from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.cmd import keys
from heatconv.crypto import generate_key
from heatconv.db import migration, sealing, services
from heatconv.db.session import Database


def main() -> None:
    """Carry out one command."""
    command = cfg.SubCommandOpt("command", title="Commands", handler=_add_commands)
    conf = configuration.load(sys.argv[1:], prog="heatconv-manage", cli_opts=[command])
    with keys.told("heatconv-manage"):
        keyring = keys.configured(conf) if conf.auth_encryption_key else None
        conf.command.run(conf, Database.from_conf(conf, keyring))


def _add_commands(parsers: object) -> None:
    for name, run in _COMMANDS.items():
        parser = parsers.add_parser(name, help=run.__doc__)  # type: ignore[attr-defined]  # argparse's action
        parser.set_defaults(run=run)
        if name in _CHOICES:
            parser.add_argument("what", choices=_CHOICES[name])


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


def _generate_key(_conf: cfg.ConfigOpts, _database: Database) -> None:
    """Print a new key, for auth_encryption_key."""
    print(generate_key())  # noqa: T201 - a command's answer


def _update_params(_conf: cfg.ConfigOpts, database: Database) -> None:
    """Encrypt with auth_encryption_key what is encrypted with an old key, or not at all."""
    undecipherable = 0
    for table in sealing.sealed_tables():
        for batches, progress in enumerate(sealing.renew(database, table), start=1):
            if batches % 100 == 0:
                print(progress, flush=True)  # noqa: T201 - a command's answer
        print(progress)  # noqa: T201 - as above
        undecipherable += progress.undecipherable
    if undecipherable:
        raise SystemExit(
            f"heatconv-manage: {undecipherable} values are encrypted with keys that"
            " auth_encryption_old_keys lacks; add those and run this again."
        )


_COMMANDS: dict[str, Callable[[cfg.ConfigOpts, Database], None]] = {
    "db_sync": _db_sync,
    "db_version": _db_version,
    "generate_key": _generate_key,
    "service": _service,
    "update_params": _update_params,
}

#: What a command is told besides its name.
_CHOICES = {"service": ["list", "clean"], "update_params": ["encrypt"]}
