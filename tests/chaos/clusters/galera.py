# SPDX-License-Identifier: Apache-2.0
"""MariaDB nodes that replicate to each other with Galera."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Self

import pymysql

from tests.chaos.clusters.balancer import Balancer, loopback
from tests.chaos.clusters.node import Cluster, Node, Trouble, wait_until
from tests.functional.servers.catalog import free_port
from tests.functional.servers.private import as_account, let_others_reach, run_once
from tests.functional.servers.processes import Process
from tests.functional.servers.provision import Unavailable

PROVIDER = Path("/usr/lib/galera/libgalera_smm.so")
SERVER = "/usr/sbin/mariadbd"
ACCOUNT = "mysql"  #: whose the servers are, where that can be chosen
DATABASE = "heatconv"
COUNTERS = ("wsrep_local_commits", "wsrep_local_cert_failures", "wsrep_local_bf_aborts")
ANSWER = 2  #: seconds that a node has to answer a check


class GaleraNode(Node):
    """One of the servers; it keeps what it has when it dies, and is given the rest when it is back."""

    def __init__(self, directory: Path, number: int) -> None:
        directory.mkdir()
        if os.geteuid() == 0:  # root's rsync would be nobody's
            shutil.chown(directory, ACCOUNT, ACCOUNT)
            let_others_reach(directory)
        self.port, self.group, self._increments, self._states = (free_port() for _ in range(4))
        self._directory = directory
        self._name = f"node-{number}"
        self._server = [
            *as_account(ACCOUNT),
            SERVER,
            "--no-defaults",
            f"--datadir={directory}/data",
            f"--socket={directory}/socket",
        ]
        install = ["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal"]
        run_once([*as_account(ACCOUNT), *install, f"--datadir={directory}/data", "--skip-test-db"])

    def start(self, cluster: str, settings: Mapping[str, object]) -> None:
        """Let it run; without other nodes to join it begins a cluster."""
        command = [*self._server, *self._own_options(cluster)]
        command += [f"--{name}={value}" for name, value in settings.items()]
        if cluster != "gcomm://" and (position := self._position()):
            command.append(f"--wsrep_start_position={position}")
        self._process = Process(command, self._directory / "log")

    def _own_options(self, cluster: str) -> list[str]:
        group = f"tcp://127.0.0.1:{self.group}"
        provider = f"gmcast.listen_addr={group};ist.recv_addr=127.0.0.1:{self._increments}"
        return [
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--wsrep_provider={PROVIDER}",
            f"--wsrep_provider_options={provider};gcache.size=64M;pc.recovery=true",
            f"--wsrep_cluster_address={cluster}",
            f"--wsrep_node_name={self._name}",
            f"--wsrep_node_address=127.0.0.1:{self.group}",
            f"--wsrep_sst_receive_address=127.0.0.1:{self._states}",
        ]

    def _position(self) -> str:
        """Return how far it had come when it died, as the unit files of distributions ask before a start."""
        if not (self._directory / "data" / "grastate.dat").exists():
            return ""
        recover = ["--wsrep_recover", "--wsrep_on=ON", f"--wsrep_provider={PROVIDER}"]
        recover += ["--binlog_format=ROW", "--skip-networking"]
        done = subprocess.run([*self._server, *recover], capture_output=True, text=True, check=False)
        found = re.search(r"Recovered position:? ?(\S+:-?\d+)", done.stderr + done.stdout)
        return found[1] if found else ""

    def status(self, name: str) -> str:
        """Return what it says of something; "" if it says nothing."""
        try:
            with closing(self._connect()) as connection, connection.cursor() as cursor:
                cursor.execute("SHOW STATUS LIKE %s", [name])
                found = cursor.fetchone()
                return str(found[1]) if found else ""
        except (pymysql.Error, OSError):
            return ""

    def run(self, statement: str) -> None:
        """Have it carry out a statement."""
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            cursor.execute(statement)

    def _connect(self) -> pymysql.Connection:
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user="root", connect_timeout=ANSWER, read_timeout=ANSWER
        )


class Galera(Cluster):
    """Three nodes; each daemon is led to one of them, and to another while that one is not ready."""

    #: What an operator has to set beside what makes it Galera at all.
    settings: Mapping[str, object] = {
        "wsrep_on": "ON",
        "binlog_format": "ROW",
        "default_storage_engine": "InnoDB",
        "innodb_autoinc_lock_mode": 2,
        "innodb_flush_log_at_trx_commit": 2,
        "innodb_log_file_size": "32M",
        "wsrep_cluster_name": "heatconv",
        "wsrep_sst_method": "rsync",
        "max_connections": 500,
    }

    def __init__(self, directory: Path, start: str, *, writers: int = 3, **settings: object) -> None:
        """Make the nodes' data directories; ``writers``: how many of the nodes daemons are led to."""
        if not PROVIDER.exists():
            raise Unavailable("Galera is not installed: install galera-4")
        self._choice = Random(start)
        self._writers = writers
        self._settings = {**self.settings, **settings}
        self.nodes = [GaleraNode(directory / f"node-{number}", number) for number in (1, 2, 3)]
        self._of_the_dead: Counter[str] = Counter()
        self._exit = ExitStack()
        self.troubles: Sequence[Trouble] = (
            Trouble(name="node killed", begin=self._kill, weight=2),
            Trouble(name="node stopped", begin=self._pause),
        )

    def __enter__(self) -> Self:
        with ExitStack() as until:
            until.callback(self.stop)
            self.start()
            urls = [loopback(node.port).set(database=DATABASE).render_as_string() for node in self.nodes]
            self._balancer = until.enter_context(Balancer(urls, self._is_ready))
            self._exit = until.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._exit.close()

    def start(self) -> None:
        """See Cluster."""
        first, *others = self.nodes
        first.start("gcomm://", self._settings)
        wait_until(lambda: self._is_ready(0), "the first node")
        first.run(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
        for number, node in enumerate(others, 1):
            node.start(self._address, self._settings)
            wait_until(partial(self._is_ready, number), "another node")
        self.await_whole()

    def stop(self) -> None:
        """See Cluster."""
        for node in self.nodes:
            node.kill()

    def await_whole(self) -> None:
        """See Cluster."""
        for number in range(len(self.nodes)):
            wait_until(partial(self._is_whole, number), f"node {number}")

    def url(self, preferred: int) -> str:
        """Return the URL of a line to one of the nodes."""
        return self._balancer.line(preferred % self._writers)

    def counted(self, name: str) -> int:
        """Return how often something has happened on all nodes, as far as is known of those that died."""
        return self._of_the_dead[name] + sum(int(node.status(name) or 0) for node in self.nodes)

    @property
    def _address(self) -> str:
        return "gcomm://" + ",".join(f"127.0.0.1:{node.group}" for node in self.nodes)

    def _is_ready(self, number: int) -> bool:
        return self.nodes[number].status("wsrep_local_state_comment") == "Synced" and (
            self.nodes[number].status("wsrep_ready") == "ON"
        )

    def _is_whole(self, number: int) -> bool:
        return self._is_ready(number) and self.nodes[number].status("wsrep_cluster_size") == "3"

    def _kill(self) -> Callable[[], None]:
        node = self._choice.choice(self.nodes)
        self._of_the_dead.update({name: int(node.status(name) or 0) for name in COUNTERS})
        node.kill()
        return lambda: node.start(self._address, self._settings)

    def _pause(self) -> Callable[[], None]:
        node = self._choice.choice(self.nodes)
        node.send(signal.SIGSTOP)
        return lambda: node.send(signal.SIGCONT)
