# SPDX-License-Identifier: Apache-2.0
"""Servers of a test's own, to be stopped and started again; nobody else's work depends on them.

Each takes a directory, and has a ``url``.  ``start`` returns when it can be
used; ``stop`` ends it the hard way, as a crash does.
"""

from __future__ import annotations

import getpass
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tests.functional.servers.catalog import MARIADB, POSTGRESQL, RABBITMQ, free_port
from tests.functional.servers.processes import Process
from tests.functional.servers.provision import Server, Unavailable


class PrivateServer(Protocol):
    """What the servers below have in common."""

    url: str  #: in which the database or virtual host is the server's own

    def start(self) -> None:
        """Let it run, with what it kept."""

    def stop(self) -> None:
        """End it at once."""


class PrivatePostgreSQL:
    """PostgreSQL; run by root it takes its own account, since it refuses to be root's."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._server = binary(POSTGRESQL, [*Path("/usr/lib/postgresql").glob("*/bin/postgres")])
        self._port = free_port()
        self.url = f"postgresql+psycopg2://postgres@127.0.0.1:{self._port}/postgres"
        self._process: Process | None = None
        if os.geteuid() == 0:
            shutil.chown(directory, "postgres", "postgres")
            let_others_reach(directory)
        initdb = [str(Path(self._server).with_name("initdb")), "--auth=trust", "--username=postgres"]
        run_once([*as_account("postgres"), *initdb, "--no-sync", "--pgdata", str(directory / "data")])

    def start(self) -> None:
        """See PrivateServer."""
        where = ["-D", str(self._directory / "data"), "-k", str(self._directory), "-p", str(self._port)]
        self._process = Process([*as_account("postgres"), self._server, *where], self._directory / "log")
        self._process.wait_for("ready to accept connections")

    def stop(self) -> None:
        """See PrivateServer."""
        if self._process is not None:
            self._process.stop(by=signal.SIGQUIT)  # kills its children and recovers at the next start


class PrivateMariaDB:
    """MariaDB, with the ``options`` that a test wants it to start with."""

    def __init__(self, directory: Path, *options: str) -> None:
        self._directory = directory
        self._server = binary(MARIADB, [Path("/usr/sbin/mariadbd")])
        self.options = options
        port = free_port()
        self.url = f"mysql+pymysql://root@127.0.0.1:{port}/"
        self._process: Process | None = None
        user = f"--user={getpass.getuser()}"
        self._where = [f"--datadir={directory}/data", f"--socket={directory}/socket", f"--port={port}", user]
        install = ["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", user]
        run_once([*install, f"--datadir={directory}/data", "--skip-test-db", *options])

    def start(self) -> None:
        """See PrivateServer."""
        listen = [*self._where, "--bind-address=127.0.0.1"]
        command = [self._server, "--no-defaults", *listen, *self.options]
        self._process = Process(command, self._directory / "log")
        self._process.wait_for("ready for connections")

    def stop(self) -> None:
        """See PrivateServer."""
        if self._process is not None:
            self._process.kill()


class PrivateRabbitMQ:
    """RabbitMQ; ``wipe`` lets it forget every queue."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._server = binary(RABBITMQ, [Path("/usr/lib/rabbitmq/bin/rabbitmq-server")])
        port = free_port()
        self.url = f"rabbit://guest:guest@127.0.0.1:{port}//"
        self._process: Process | None = None
        self._environment = {
            "HOME": str(directory),
            "RABBITMQ_CONFIG_FILE": "/nonexistent",
            "RABBITMQ_CONF_ENV_FILE": "/nonexistent",
            "RABBITMQ_ENABLED_PLUGINS_FILE": "/nonexistent",
            "RABBITMQ_LOG_BASE": str(directory),
            "RABBITMQ_MNESIA_BASE": str(directory / "mnesia"),
            "RABBITMQ_NODENAME": f"heatconv-{secrets.token_hex(4)}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
        }

    def start(self) -> None:
        """See PrivateServer."""
        self._process = Process([self._server], self._directory / "log", self._environment)
        self._process.wait_for("completed with .* plugins")

    def stop(self) -> None:
        """See PrivateServer."""
        if self._process is not None:
            self._process.kill()

    def wipe(self) -> None:
        """Remove all it kept; it is stopped."""
        shutil.rmtree(self._directory / "mnesia")


def binary(server: Server, candidates: Sequence[Path]) -> str:
    """Return the newest of some programs.

    Raises:
        Unavailable: there is none of them.
    """
    there = sorted((path for path in candidates if path.exists()), key=_version)
    if not there:
        raise Unavailable(f"{server.name} is not installed: install {server.package}")
    return str(there[-1])


def _version(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(path))]


def as_account(account: str) -> list[str]:
    """Return what to put before a command so that it runs as somebody, if that can be chosen."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={account}", f"--regid={account}", "--init-groups", "--"]


def let_others_reach(directory: Path) -> None:
    """Let every account pass through the temporary directories above this one."""
    for parent in directory.parents:
        if parent == Path(tempfile.gettempdir()):
            break
        parent.chmod(0o711)


def run_once(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        raise Unavailable(f"`{' '.join(command)}` failed: {done.stderr or done.stdout}")
