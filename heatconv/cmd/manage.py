# SPDX-License-Identifier: Apache-2.0
"""heatconv-manage: what an operator does to the database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable

from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.cmd import keys
from heatconv.cmd.daemon import keep_private
from heatconv.crypto import generate_key
from heatconv.db.convergence import purging, services
from heatconv.db.plumbing import migration, sealing
from heatconv.db.plumbing.session import Database


def main() -> None:
    """Carry out one command."""
    keep_private()
    command = cfg.SubCommandOpt("command", title="Commands", handler=_add_commands)
    conf = configuration.load(sys.argv[1:], prog="heatconv-manage", cli_opts=[command])
    with keys.reporting_misconfiguration("heatconv-manage"):
        keyring = keys.configured(conf) if conf.auth_encryption_key else None
        conf.command.run(conf, Database.from_conf(conf, keyring))


def _add_commands(parsers: object) -> None:
    for name, run in _COMMANDS.items():
        parser = parsers.add_parser(name, help=run.__doc__)  # type: ignore[attr-defined]  # argparse's action
        parser.set_defaults(run=run)
        if name in _ARGUMENTS:
            _ARGUMENTS[name](parser)


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


def _update_params(conf: cfg.ConfigOpts, database: Database) -> None:
    """Encrypt with auth_encryption_key, bound to its row, what is encrypted otherwise."""
    undecipherable = unbound = 0
    for table in sealing.sealed_tables():
        for batches, progress in enumerate(sealing.renew(database, table), start=1):
            if batches % 100 == 0:
                print(progress, flush=True)  # noqa: T201 - a command's answer
        print(progress)  # noqa: T201 - as above
        undecipherable += progress.undecipherable
        unbound += progress.unbound
    problems = []
    if undecipherable:
        problems.append(
            f"{undecipherable} values are encrypted with keys that auth_encryption_old_keys lacks; add those"
            " and run this again. If there are no other keys, they were moved from where they belong."
        )
    if unbound:
        problems.append(
            f"{unbound} values are not bound to their rows; if an earlier release has written them, set"
            " accept_unbound_values and run this again."
        )
    if problems:
        raise SystemExit("\n".join(f"heatconv-manage: {problem}" for problem in problems))
    if conf.accept_unbound_values:
        print("All values are bound to their rows: unset accept_unbound_values.")  # noqa: T201 - as above


def _purge_deleted(conf: cfg.ConfigOpts, database: Database) -> None:
    """Drop stacks that were deleted long ago from the database, with their events."""
    asked = conf.command
    gone = purging.purge(
        database,
        older_than=min(asked.age * _GRANULARITIES[asked.granularity], _AGES),
        project_id=asked.project_id,
        batch=asked.batch_size,
    )
    for batches, progress in enumerate(gone, start=1):
        if batches % 100 == 0:
            print(progress, flush=True)  # noqa: T201 - a command's answer
    print(progress)  # noqa: T201 - as above


_COMMANDS: dict[str, Callable[[cfg.ConfigOpts, Database], None]] = {
    "db_sync": _db_sync,
    "db_version": _db_version,
    "generate_key": _generate_key,
    "purge_deleted": _purge_deleted,
    "service": _service,
    "update_params": _update_params,
}


_GRANULARITIES = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}  #: seconds that each has

_AGES = 100 * 365 * 86400  #: seconds; nothing is older, and moments before a calendar begins are none


def _take_purge(parser: ArgumentParser) -> None:
    """Take what heat-manage takes: operators have scripts that call it so."""
    add = parser.add_argument
    add(
        "age",
        nargs="?",
        type=_number(0, _AGES),
        default=90,
        help="how long ago they were deleted (%(default)s)",
    )
    add(
        "-g", "--granularity", choices=_GRANULARITIES, default="days", help="what the age is in (%(default)s)"
    )
    add("-p", "--project-id", help="only this project's stacks")
    add(
        *("-b", "--batch_size", "--batch-size"),
        type=_number(1, 1000),
        default=purging.STACKS,
        help="how many go at a time (%(default)s)",
    )


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if least <= (value := int(text)) <= most:
            return value
        raise ArgumentTypeError(f"{value} is not a number from {least} to {most}")

    return number


#: The arguments of a command.
_ARGUMENTS: dict[str, Callable[[ArgumentParser], object]] = {
    "purge_deleted": _take_purge,
    "service": lambda parser: parser.add_argument("what", choices=["list", "clean"]),
    "update_params": lambda parser: parser.add_argument("what", choices=["encrypt"]),
}
