# SPDX-License-Identifier: Apache-2.0
"""heatconv-api."""

from __future__ import annotations

from heatconv.cmd import green

green.patch()

# What follows must be imported after patching.
import signal  # noqa: E402
import sys  # noqa: E402

from oslo_config import cfg  # noqa: E402

from heatconv import conf as configuration  # noqa: E402
from heatconv.api import auth  # noqa: E402
from heatconv.cmd import keys, monitoring, systemd  # noqa: E402
from heatconv.cmd.compose.api import ApiService  # noqa: E402
from heatconv.cmd.daemon import collect_less, keep_private, leave  # noqa: E402
from heatconv.cmd.processes import PROCESSES, run_processes  # noqa: E402
from heatconv.cmd.reloading import Reloading  # noqa: E402
from heatconv.crypto import Keyring  # noqa: E402
from heatconv.rpc.bus import ENGINE_TOPIC, Bus  # noqa: E402


def main() -> None:
    """Serve until told to stop."""
    keep_private()
    conf = configuration.load(sys.argv[1:], prog="heatconv-api", cli_opts=[PROCESSES])
    count = conf.processes or conf.api.workers
    with keys.reporting_misconfiguration("heatconv-api"):
        keyring = keys.configured(conf)
        strategy = auth.strategy(conf, keyring)
    run_processes(count, lambda number: _serve(conf, keyring, strategy, number, shared=count > 1))


def _serve(
    conf: cfg.ConfigOpts, keyring: Keyring, strategy: auth.Strategy, number: int, *, shared: bool
) -> None:
    bus = Bus(conf)
    monitoring.start(conf, {"bus": lambda: bus.ping(ENGINE_TOPIC)}, number)
    service = ApiService(conf, bus, keyring, strategy, shared=shared)
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: service.stop())
    reloading, watchdog = Reloading(conf), systemd.Watchdog()

    def at_each_turn() -> None:
        watchdog.beat()
        reloading.see_to_it()

    collect_less()
    systemd.notify("READY=1")
    service.serve(at_each_turn)
    systemd.notify_stopping()
    leave()
