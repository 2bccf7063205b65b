# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL with a synchronous standby, which is promoted when the primary dies, and the other way round."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import psycopg2

from tests.chaos.clusters.acknowledged import Acknowledged
from tests.chaos.clusters.node import Cluster, Node, Trouble, wait_until
from tests.functional.servers.catalog import POSTGRESQL, free_port
from tests.functional.servers.private import as_account, binary, let_others_reach, run_once
from tests.functional.servers.processes import Process

ACCOUNT = "postgres"
DATABASE = "heatconv"
NOTICED = 3.0  #: seconds until it is noticed that the primary is gone, as by who watches it
ANSWER = 2  #: seconds that a server has to answer

#: What an operator has to set for a primary, and for a standby that may become one.
SETTINGS = (
    "wal_level = replica",
    "max_wal_senders = 10",
    "hot_standby = on",
    "synchronous_commit = on",
    "max_connections = 300",
    "wal_receiver_status_interval = 1",
    "wal_retrieve_retry_interval = 500ms",
    "listen_addresses = '127.0.0.1'",
)


class PostgreSQLNode(Node):
    """One of the servers: a primary, or the standby of another."""

    def __init__(self, directory: Path, number: int) -> None:
        self.port = free_port()
        self.name = f"node_{number}"
        self._directory = directory / self.name
        self._directory.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._directory, ACCOUNT, ACCOUNT)
            let_others_reach(self._directory)
        self._data = self._directory / "data"
        self._programs = Path(
            binary(POSTGRESQL, [*Path("/usr/lib/postgresql").glob("*/bin/postgres")])
        ).parent

    def make(self) -> None:
        """Make an empty primary."""
        self._run("initdb", "--auth=trust", "--username=postgres", "--no-sync", "--pgdata", str(self._data))
        with (self._data / "postgresql.conf").open("a") as conf:
            conf.write("\n".join(SETTINGS) + "\n")
        with (self._data / "pg_hba.conf").open("a") as hba:
            hba.write("host replication all 127.0.0.1/32 trust\n")

    def copy(self, primary: PostgreSQLNode) -> None:
        """Become a standby of another, with nothing left of what was here."""
        shutil.rmtree(self._data, ignore_errors=True)
        source = f"host=127.0.0.1 port={primary.port} user=postgres application_name={self.name}"
        self._run(
            "pg_basebackup",
            "-d",
            source,
            "-D",
            str(self._data),
            "-R",
            "-c",
            "fast",
            "-X",
            "stream",
            "--no-sync",
        )

    def start(self) -> None:
        """Let it run as what it is."""
        where = ["-D", str(self._data), "-k", str(self._directory), "-p", str(self.port)]
        command = [*as_account(ACCOUNT), str(self._programs / "postgres"), *where]
        self._process = Process(command, self._directory / "log")
        self._process.wait_for("ready to accept")

    def kill(self) -> None:
        """End it as a machine does: its backends do not live on to see that the server is gone."""
        with suppress(FileNotFoundError):
            server = int((self._data / "postmaster.pid").read_text().splitlines()[0])
            with suppress(ProcessLookupError):
                os.kill(server, signal.SIGSTOP)  # it starts no more of them
                children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
                for child in children:
                    with suppress(ProcessLookupError):
                        os.kill(int(child), signal.SIGKILL)
        super().kill()

    def promote(self) -> None:
        """Let a standby become the primary."""
        self._run("pg_ctl", "promote", "-D", str(self._data), "-w")

    def wait_for_standbys(self, names: str) -> None:
        """Let commits wait for standbys of these names; "" for none."""
        self.ask("ALTER SYSTEM SET synchronous_standby_names = %s", names, rows=False)
        self.ask("SELECT pg_reload_conf()")

    def ask(self, statement: str, *values: object, rows: bool = True) -> Any:
        """Return the first value that a statement returns."""
        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, user="postgres", dbname="postgres", connect_timeout=ANSWER
        )
        connection.autocommit = True
        with closing(connection), connection.cursor() as cursor:
            cursor.execute(statement, values)
            found = cursor.fetchone() if rows else None
            return found and found[0]

    def _run(self, program: str, *arguments: str) -> None:
        run_once([*as_account(ACCOUNT), str(self._programs / program), *arguments])


class PostgreSQL(Cluster):
    """A primary and a standby, which change places; daemons know both."""

    def __init__(self, directory: Path, start: str, *, synchronous: bool = True) -> None:
        """Make an empty primary; ``synchronous``: whether its commits wait for the standby."""
        self._choice = Random(start)
        self._synchronous = synchronous
        self._primary, self._standby = (PostgreSQLNode(directory, number) for number in (1, 2))
        hosts = f"host=127.0.0.1:{self._primary.port}&host=127.0.0.1:{self._standby.port}"
        #: The first of both that takes writes; one that stopped answering is not waited for.
        self.url = (
            f"postgresql+psycopg2://postgres@/{DATABASE}?{hosts}&target_session_attrs=read-write"
            "&connect_timeout=2&tcp_user_timeout=5000&keepalives_idle=2&keepalives_interval=1&keepalives_count=3"
        )
        #: What of all that was committed is still there.
        self.acknowledged = Acknowledged(self._connect)
        self._primary.make()
        self.troubles: Sequence[Trouble] = (
            Trouble(name="primary killed and standby promoted", begin=self._fail_over, weight=3, longest=2.0),
            Trouble(name="standby stopped", begin=self._pause, longest=4.0),
            Trouble(name="primary killed while its standby was away", begin=self._lag, weight=2, longest=1.0),
        )

    def start(self) -> None:
        """See Cluster."""
        self._primary.start()
        self._primary.ask(f"CREATE DATABASE {DATABASE}", rows=False)
        self._add_standby()
        self.await_whole()
        self.acknowledged.start()

    def stop(self) -> None:
        """See Cluster."""
        self.acknowledged.stop()
        for node in (self._primary, self._standby):
            node.kill()

    def await_whole(self) -> None:
        """See Cluster."""
        wanted = "sync" if self._synchronous else "async"
        wait_until(lambda: self._states() == wanted, "a standby")
        # Each process reads its configuration by itself, and commits heed what the checkpointer has read.
        self._primary.ask("CHECKPOINT", rows=False)

    def _connect(self) -> Any:
        return psycopg2.connect(
            host="127.0.0.1,127.0.0.1",
            port=f"{self._primary.port},{self._standby.port}",
            user="postgres",
            dbname="postgres",
            target_session_attrs="read-write",
            connect_timeout=ANSWER,
        )

    def _states(self) -> str:
        return str(self._primary.ask("SELECT string_agg(sync_state, ',') FROM pg_stat_replication"))

    def _add_standby(self) -> None:
        """Give the primary a standby that has all it has, and have commits wait for it from then on."""
        self._standby.copy(self._primary)
        self._standby.start()
        wait_until(lambda: self._states() in ("async", "sync"), "a standby")
        if self._synchronous:
            self._primary.wait_for_standbys("*")

    def _fail_over(self) -> Callable[[], None]:
        self._primary.kill()
        return self._change_places

    def _change_places(self) -> None:
        """Promote the standby, and make a standby of what was the primary."""
        threading.Event().wait(NOTICED)
        self._primary, self._standby = self._standby, self._primary
        self._primary.promote()
        self._primary.wait_for_standbys("")  # it has none for now
        self._add_standby()

    def _lag(self) -> Callable[[], None]:
        """Let the primary die while its standby is away: what is committed meanwhile is nowhere else."""
        self._standby.kill()  # one that has only stopped finds what came in its buffers
        threading.Event().wait(self._choice.uniform(1.0, 3.0))
        self._primary.kill()
        self._standby.start()
        return self._change_places

    def _pause(self) -> Callable[[], None]:
        node = self._standby
        node.send(signal.SIGSTOP)
        return lambda: node.send(signal.SIGCONT)
