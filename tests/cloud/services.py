# SPDX-License-Identifier: Apache-2.0
"""What dies and comes back: workers and engines, the line to RabbitMQ, the dev cloud's own services.

One misfortune after the other, each healed by itself some seconds later, so that
several overlap; ``stop`` waits until all are healed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import requests

from tests.chaos.proxy import Proxy
from tests.functional.servers.daemons import Daemons

#: By the name of a service, where it answers, and the module that has its application.
RESTARTED = {
    "nova-api": ("http://127.0.0.1:8774/", "nova.wsgi.osapi_compute"),
    "neutron": ("http://127.0.0.1:9696/", "neutron.wsgi.api"),
}
LONGEST = 5.0  #: seconds until a daemon that was killed is started again, or a line that was cut is mended
PAUSE = (2.0, 8.0)  #: seconds between two misfortunes, at least and at most
PATIENCE = 120.0  #: seconds that a service of the cloud may take to start
LOOK = 0.5  #: seconds between two looks whether it has


def home() -> Path:
    """Return the directory of the dev cloud that runs here."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("DEVCLOUD_HOME") or cache / "devcloud")


#: An application that has read its policy.  What serves several threads reads it when it is first
#: asked, and tells the others meanwhile that they may not, or that there is no such thing.
READY = """\
import importlib
from {package} import policy
application = importlib.import_module("{module}").application
policy.init()
"""


class Service:
    """A service of the dev cloud, which left its pid in a file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._url, module = RESTARTED[name]
        self._pid = home() / "run" / f"{name}.pid"
        self._log = home() / "log" / f"{name}.log"
        self._process = psutil.Process(int(self._pid.read_text()))
        ready = home() / "run" / f"ready_{module.replace('.', '_')}.py"
        ready.write_text(READY.format(package=module.partition(".")[0], module=module))
        command = self._process.cmdline()
        command[command.index("--module") + 1] = f"{ready.stem}:application"
        self._command = ["nice", "-n", "19", *command]
        self._environment = self._process.environ() | {"PYTHONPATH": str(ready.parent)}
        self._directory = self._process.cwd()

    def stop(self, by: signal.Signals) -> None:
        """End it by a signal, in the midst of whatever it is asked."""
        self._process.send_signal(by)
        self._process.wait(PATIENCE)

    def start(self) -> None:
        """Start it again as it was, a child of nobody's; wait until it answers."""
        paths = {"LOG": str(self._log), "PID": str(self._pid)}
        subprocess.run(
            [
                "bash",
                "-c",
                'setsid nohup "$@" >>"$LOG" 2>&1 </dev/null & echo $! >"$PID"',
                "-",
                *self._command,
            ],
            env=self._environment | paths,
            cwd=self._directory,
            check=True,
        )
        self._process = psutil.Process(int(self._pid.read_text()))
        clock = threading.Event()
        for _ in range(round(PATIENCE / LOOK)):
            with suppress(requests.ConnectionError):
                requests.get(self._url, timeout=PATIENCE)
                return
            clock.wait(LOOK)
        raise AssertionError(f"{self.name} does not come back: {self._log}")


class Misfortunes:
    """Sends them; ``counts`` has how many of each, ``peaks`` the most memory of each daemon."""

    def __init__(self, daemons: Daemons, line: Proxy, services: Sequence[Service], start: str) -> None:
        """Take the daemons, their line to the bus, the services to restart, and the seed."""
        self.counts: Counter[str] = Counter()
        self.peaks: dict[str, int] = {}
        self.problems: list[str] = []
        self._daemons = daemons
        self._line = line
        self._choice = random.Random(f"{start} misfortunes")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._haunt)
        self._healing: list[threading.Thread] = []
        self._well: dict[str, Callable[[str], None]] = dict.fromkeys(daemons.processes, self._kill)
        self._services = {each.name: each for each in services}
        self._well |= dict.fromkeys(self._services, self._restart) | {"bus": self._cut}
        self._well.pop("api", None)  # a user that gets no answer proves nothing about the service

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Send no more, and wait until everything is healed."""
        self._stopping.set()
        self._thread.join()
        for thread in self._healing:
            thread.join()

    def look(self) -> None:
        """Note how much memory the daemons have had."""
        for name, process in self._daemons.processes.items():
            self._note_peak(name, process.pid)

    def _haunt(self) -> None:
        while not self._stopping.wait(self._choice.uniform(*PAUSE)):
            if names := sorted(self._well):
                weights = [3 if name.startswith("worker") else 1 for name in names]
                (name,) = self._choice.choices(names, weights)
                self._healing.append(threading.Thread(target=self._meet, args=(name, self._well.pop(name))))
                self._healing[-1].start()

    def _meet(self, name: str, misfortune: Callable[[str], None]) -> None:
        """Let a misfortune meet what nothing ails yet; by its end that is well again."""
        try:
            misfortune(name)
        except Exception as error:  # noqa: BLE001 - reported in the end
            self.problems.append(f"what befell {name} could not be healed: {error!r}")
        else:
            self._well[name] = misfortune

    def _rest(self) -> None:
        self._stopping.wait(self._choice.uniform(0.2, LONGEST))

    def _kill(self, name: str) -> None:
        self.counts["kills"] += 1
        self._note_peak(name, self._daemons.processes[name].pid)
        self._daemons.kill(name)
        self._rest()
        self._daemons.start(name)
        self._daemons.await_up(name)

    def _cut(self, _name: str) -> None:
        self.counts["cuts of the bus"] += 1
        self._line.close()
        self._rest()
        self._line.open()

    def _restart(self, name: str) -> None:
        self.counts["restarts of services"] += 1
        service = self._services[name]
        service.stop(self._choice.choice([signal.SIGTERM, signal.SIGKILL]))
        service.start()

    def _note_peak(self, name: str, pid: int) -> None:
        with suppress(psutil.NoSuchProcess, FileNotFoundError):
            parent = psutil.Process(pid)
            peak = sum(_peak(each.pid) for each in (parent, *parent.children(recursive=True)))
            self.peaks[name] = max(peak, self.peaks.get(name, 0))


def _peak(pid: int) -> int:
    """Return how many bytes of memory a process has had at the most."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
