# SPDX-License-Identifier: Apache-2.0
"""heatconv-worker."""

from __future__ import annotations

from heatconv.cmd import green

EXECUTOR = green.patch()

# What follows must be imported after patching.
import sys  # noqa: E402

from oslo_config import cfg  # noqa: E402

from heatconv import conf as configuration  # noqa: E402
from heatconv.cmd import daemon, keys  # noqa: E402
from heatconv.cmd.compose import cloud, common, worker  # noqa: E402
from heatconv.cmd.processes import PROCESSES, run_processes  # noqa: E402
from heatconv.crypto import Keyring  # noqa: E402
from heatconv.db.plumbing.session import Database  # noqa: E402
from heatconv.rpc.bus import WORKER_TOPIC, Bus  # noqa: E402


def main() -> None:
    """Run until told to stop."""
    daemon.keep_private()
    conf = configuration.load(sys.argv[1:], prog="heatconv-worker", cli_opts=[PROCESSES])
    keyring = keys.fitting(conf)
    run_processes(conf.processes or conf.worker.workers, lambda number: _run(conf, keyring, number))


def _run(conf: cfg.ConfigOpts, keyring: Keyring, number: int) -> None:
    database = Database.from_conf(conf, keyring)
    green.check_driver(EXECUTOR, conf.database.connection)
    me = daemon.Daemon(conf, database=database, bus=Bus(conf), binary="heatconv-worker", topic=WORKER_TOPIC)
    me.watched(number)
    types = common.registry(me)
    cloud.adapt(me, types)
    me.sign_on()
    me.run(worker.start(me, types, EXECUTOR))
