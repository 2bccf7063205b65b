# SPDX-License-Identifier: Apache-2.0
"""heatconv-manage: what an operator does to the database."""

from __future__ import annotations

import json
import signal
import sys
import threading
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from functools import partial
from pathlib import Path

from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.cmd import keys, upgrades
from heatconv.cmd.daemon import keep_private
from heatconv.crypto import generate_key
from heatconv.db import restoring
from heatconv.db.convergence import delegations, services, stacks
from heatconv.db.plumbing import migration, sealing
from heatconv.db.plumbing.session import Database
from heatconv.db.purging import deleted_stacks, pace
from heatconv.engine import orphans
from heatconv.engine.explaining import Explaining
from heatconv.resources.registry import Registry

SHOWN_EVERY = 20  #: transactions of a purge, until it prints again how far it is
INTERRUPTED = (
    "heatconv-manage: interrupted; what it has done is done, and the same command goes on from there"
)


def main() -> None:
    """Carry out one command."""
    keep_private()
    command = cfg.SubCommandOpt("command", title="Commands", handler=_add_commands)
    conf = configuration.load(sys.argv[1:], prog="heatconv-manage", cli_opts=[command])
    with keys.reporting_misconfiguration("heatconv-manage"):
        keyring = keys.configured(conf) if conf.auth_encryption_key else None
        try:
            conf.command.run(conf, Database.from_conf(conf, keyring))
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None


def _add_commands(parsers: object) -> None:
    for name, run in _COMMANDS.items():
        parser = parsers.add_parser(name, help=run.__doc__)  # type: ignore[attr-defined]  # argparse's action
        parser.set_defaults(run=run)
        if name in _ARGUMENTS:
            _ARGUMENTS[name](parser)


def _db_sync(conf: cfg.ConfigOpts, database: Database) -> None:
    """Bring the database to a newer schema, while daemons of the release before may run."""
    for line in upgrades.sync(database, dead_after=_dead_after(conf), contract=conf.command.contract):
        print(line)  # noqa: T201 - a command's answer


def _db_version(_conf: cfg.ConfigOpts, database: Database) -> None:
    """Show the schema the database has."""
    print(migration.version(database) or "none")  # noqa: T201 - a command's answer


def _status(conf: cfg.ConfigOpts, database: Database) -> None:
    """Show which release this is, what the database is at, and of which releases the daemons are."""
    for line in upgrades.status(database, dead_after=_dead_after(conf)):
        print(line)  # noqa: T201 - a command's answer


def _service(conf: cfg.ConfigOpts, database: Database) -> None:
    """List the daemons that signed on, or drop those that are dead."""
    dead_after = _dead_after(conf)
    if conf.command.what == "clean":
        dropped = services.clean(database, dead_after=dead_after)
        print(f"{dropped} dead services dropped.")  # noqa: T201 - a command's answer
        return
    for service in services.list_services(database, dead_after=dead_after):
        state = "up" if service.alive else "down"
        edition = upgrades.described(service.edition)
        known = (service.engine_id, service.binary, service.host, state, service.updated_at, edition)
        print(*known)  # noqa: T201 - a command's answer


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
    """Drop stacks that were deleted long ago from the database, with all that is left of them."""
    asked = conf.command
    # Raised anywhere, an interruption can be lost in what nobody catches errors of, such as a destructor.
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    gone = deleted_stacks.purge(
        database,
        older_than=min(asked.age * _GRANULARITIES[asked.granularity], _AGES),
        project_id=asked.project_id,
        batch=asked.batch_size,
        is_dry=asked.dry_run,
    )
    for transactions, progress in enumerate(pace.unhurried(gone, interrupted.wait), start=1):
        if interrupted.is_set():
            raise KeyboardInterrupt
        if transactions % SHOWN_EVERY == 0:
            print(progress, flush=True)  # noqa: T201 - a command's answer
    print(progress)  # noqa: T201 - as above


def _explain(conf: cfg.ConfigOpts, database: Database) -> None:
    """Say what a stack waits for, or why it failed, as JSON; with no API, engine or bus."""
    found = stacks.find(database, None, conf.command.stack_id)
    if found is None:
        raise SystemExit(f"heatconv-manage: there is no stack of id {conf.command.stack_id}")
    dead_after = _dead_after(conf)
    explanation = Explaining(database, _types(conf), dead_after=dead_after).explain(found)
    print(json.dumps(explanation, indent=2))  # noqa: T201 - a command's answer


def _restored(conf: cfg.ConfigOpts, database: Database) -> None:
    """Say that the database was restored from a dump: the world may have gone on since that was taken."""
    running = restoring.alive_daemons(database, dead_after=_dead_after(conf))
    if running:
        raise SystemExit(
            f"heatconv-manage: {running} daemons are running, or were a moment before the dump: stop them,"
            " and run this again in a minute"
        )
    for transactions, progress in enumerate(restoring.mark(database), start=1):
        if transactions % SHOWN_EVERY == 0:
            print(progress, flush=True)  # noqa: T201 - a command's answer
    print(progress)  # noqa: T201 - as above


def _orphans(conf: cfg.ConfigOpts, database: Database) -> None:
    """Show what there is in the cloud with a name of ours and belongs to nothing; leave it alone."""
    asked, registry = conf.command, _types(conf)
    if asked.os_cloud or conf.openstack_resources:
        from heatconv.openstack import adapter  # noqa: PLC0415 - slow, and for nothing without a cloud

        if asked.os_cloud:
            adapter.adapt(registry, conf, asked.os_cloud)
        else:
            adapter.adapt_for_users(registry, conf, partial(delegations.of, database), lambda _project: None)
    found = [orphan._asdict() for orphan in orphans.find(database, registry, asked.project_id)]
    if asked.format == "json":
        print(json.dumps(found, indent=2))  # noqa: T201 - a command's answer
        return
    for orphan in found:
        print(*orphan.values())  # noqa: T201 - as above
    print(f"{len(found)} found that belong to nothing.")  # noqa: T201 - as above


def _dead_after(conf: cfg.ConfigOpts) -> float:
    """Return the seconds without a heartbeat after which a daemon is dead."""
    return float(conf.heartbeat_interval * conf.heartbeat_misses)


def _types(conf: cfg.ConfigOpts) -> Registry:
    return Registry.load([path for path in conf.plugin_dirs if Path(path).is_dir()])


_COMMANDS: dict[str, Callable[[cfg.ConfigOpts, Database], None]] = {
    "db_sync": _db_sync,
    "db_version": _db_version,
    "explain": _explain,
    "generate_key": _generate_key,
    "orphans": _orphans,
    "purge_deleted": _purge_deleted,
    "restored": _restored,
    "service": _service,
    "status": _status,
    "update_params": _update_params,
}


_GRANULARITIES = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}  #: seconds that each has

_SHOWN = 20  #: characters of a number that is none

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
        default=deleted_stacks.STACKS,
        help="how many go at a time (%(default)s)",
    )
    add("--dry-run", action="store_true", help="drop nothing, and print what would go")


def _take_orphans(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("-p", "--project-id", help="only what this project's users see")
    add("-f", "--format", choices=["text", "json"], default="text", help="(%(default)s)")
    add("--os-cloud", metavar="NAME", help="the cloud of clouds.yaml that heatconv-all is run with")


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        plain = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
        if plain and least <= (value := int(text)) <= most:
            return value
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        raise ArgumentTypeError(f"it is a whole number from {least} to {most}, and {shown!r} is none")

    return number


#: The arguments of a command.
_ARGUMENTS: dict[str, Callable[[ArgumentParser], object]] = {
    "db_sync": lambda parser: parser.add_argument(
        "--contract",
        action="store_true",
        help="take away, too, what only daemons of the release before needed; it cannot be undone",
    ),
    "explain": lambda parser: parser.add_argument("stack_id", help="of whatever project"),
    "orphans": _take_orphans,
    "purge_deleted": _take_purge,
    "service": lambda parser: parser.add_argument("what", choices=["list", "clean"]),
    "update_params": lambda parser: parser.add_argument("what", choices=["encrypt"]),
}
