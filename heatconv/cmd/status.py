# SPDX-License-Identifier: Apache-2.0
"""heatconv-status: whether daemons of this release can come up where those of another one run.

``heatconv-status upgrade check``, as every service of OpenStack has it, by oslo.upgradecheck.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from oslo_config import cfg
from oslo_log import log
from oslo_upgradecheck import upgradecheck
from oslo_upgradecheck.upgradecheck import Code, Result

from heatconv import conf as configuration
from heatconv import errors
from heatconv.cmd import keys, upgrades
from heatconv.crypto import Keyring
from heatconv.db import sizing
from heatconv.db.plumbing import migration, sealing
from heatconv.db.plumbing.session import Database
from heatconv.resources.registry import Registry


def main() -> None:
    """Carry out one command, and end with 0: all is well, 1: think of something, 2: it would fail."""
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    configuration.register(conf)
    sys.exit(upgradecheck.main(conf, "heatconv", Checks(conf), sys.argv[1:]))


def _judged(look: Callable[[Checks], str | None]) -> Callable[[Checks], Result]:
    """Return a check of what a look finds: something to think of, or an error, which daemons fail by."""

    @functools.wraps(look)
    def check(checks: Checks) -> Result:
        try:
            found = look(checks)
        except errors.HeatconvError as problem:
            return Result(Code.FAILURE, str(problem))
        return Result(Code.SUCCESS) if found is None else Result(Code.WARNING, found)

    return check


class Checks(upgradecheck.UpgradeCommands):
    """Looks at what a daemon needs to come up; nothing is changed."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Keep the configuration, which is read by the time that a check is made."""
        super().__init__()
        self._conf = conf

    @_judged
    def schema(self) -> str | None:
        """Look whether the database is there, with the tables of this release."""
        with self._database() as database:
            migration.check(database)
            found = migration.version(database)
            waiting = upgrades.unfinished(database)
        if migration.is_known(found):
            return waiting
        return (
            f"The database is at schema {found}, of a later release, which has taken nothing away yet:"
            " daemons of this one run with it."
        )

    @_judged
    def keys(self) -> None:
        """Look whether what was written first and last can be read with the keys there are."""
        with self._database(keys.configured(self._conf)) as database:
            sealing.check(database)

    @_judged
    def connections(self) -> str | None:
        """Look whether the database takes the connections of the daemons that are up now."""
        dead_after = self._conf.heartbeat_interval * self._conf.heartbeat_misses
        with self._database() as database:
            return sizing.shortage(database, dead_after=dead_after)

    @_judged
    def plugins(self) -> None:
        """Look whether the plugins can be loaded."""
        Registry.load([path for path in self._conf.plugin_dirs if Path(path).is_dir()])

    @contextmanager
    def _database(self, keyring: Keyring | None = None) -> Iterator[Database]:
        with closing(Database.from_conf(self._conf, keyring)) as database:
            yield database

    _upgrade_checks = (("Schema", schema), ("Keys", keys), ("Connections", connections), ("Plugins", plugins))
