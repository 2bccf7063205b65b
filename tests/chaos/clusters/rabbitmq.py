# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ nodes that are a cluster."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

from tests.chaos.clusters.node import Cluster, Node, Trouble, wait_until
from tests.functional.servers.catalog import RABBITMQ, free_port
from tests.functional.servers.private import binary
from tests.functional.servers.processes import Process

BY_ITSELF = 45.0  #: seconds in which a node has to take part again that has stopped
ANSWER = 30  #: seconds that a node has to answer a command
STARTED = "completed with .* plugins"


class RabbitMQNode(Node):
    """One of the servers; it keeps what is durable when it dies."""

    def __init__(self, directory: Path, number: int, run: str, cookie: str) -> None:
        """Take what makes names of this run's nodes its own, and what lets them trust each other."""
        directory.mkdir()
        self.name = f"heatconv-{run}-{number}@localhost"
        self.port = free_port()
        self._directory = directory
        self._server = binary(RABBITMQ, [Path("/usr/lib/rabbitmq/bin/rabbitmq-server")])
        #: The one in the path is another account's if root calls it, who knows another cookie.
        self._control = str(Path(self._server).with_name("rabbitmqctl"))
        secret = directory / ".erlang.cookie"
        secret.write_text(cookie)
        secret.chmod(0o400)
        self.environment = {
            "HOME": str(directory),
            # By default above the nodes' own ports, among those the kernel gives to connections.
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_CONFIG_FILE": str(directory.parent / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": "/nonexistent",
            "RABBITMQ_ENABLED_PLUGINS_FILE": "/nonexistent",
            "RABBITMQ_LOG_BASE": str(directory),
            "RABBITMQ_MNESIA_BASE": str(directory / "mnesia"),
            "RABBITMQ_NODENAME": self.name,
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
        }

    def start(self) -> Process:
        """Let it run; it looks for the others by itself."""
        self._process = Process([self._server], self._directory / "log", self.environment)
        return self._process

    def is_whole(self) -> bool:
        """Tell whether it runs with all the others."""
        return self.evaluate(_IS_WHOLE) == "true"

    def control(self, *arguments: str) -> str:
        """Return what the node answers to a command of ``rabbitmqctl``; "" if it cannot."""
        command = [self._control, "--quiet", "--node", self.name, *arguments]
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                env=os.environ | self.environment,
                timeout=ANSWER,
            )
            return done.stdout if done.returncode == 0 else ""
        return ""

    def evaluate(self, expression: str) -> str:
        """Return what an Erlang expression is there; "" if the node does not answer."""
        return self.control("eval", expression).strip()


class RabbitMQ(Cluster):
    """Three nodes; each daemon knows all of them, and is connected to any."""

    #: Of ``rabbitmq.conf``.
    settings: Mapping[str, object] = {
        "cluster_partition_handling": "pause_minority",
        "net_ticktime": 10,
    }

    def __init__(self, directory: Path, start: str, **settings: object) -> None:
        """Make the nodes' directories."""
        run, self._cookie = secrets.token_hex(4), secrets.token_hex(10)
        self._choice = Random(start)
        self.by_hand = 0  #: how many nodes had to be started again that had only stopped
        self.nodes = [
            RabbitMQNode(directory / f"rabbit-{number}", number, run, self._cookie) for number in (1, 2, 3)
        ]
        lines = [f"{name} = {value}" for name, value in {**self.settings, **settings}.items()]
        (directory / "rabbitmq.conf").write_text("\n".join(lines) + "\n")
        hosts = ",".join(f"guest:guest@127.0.0.1:{node.port}" for node in self.nodes)
        self.url = f"rabbit://{hosts}//"
        self.troubles: Sequence[Trouble] = (
            Trouble(name="node killed", begin=self._kill, weight=2),
            Trouble(name="node parted from the others", begin=self._part, weight=2, longest=15.0),
            Trouble(name="node stopped", begin=self._pause, longest=40.0),
        )

    def start(self) -> None:
        """See Cluster."""
        for process in [node.start() for node in self.nodes]:
            process.wait_for(STARTED)
        for node in self.nodes[1:]:
            for command in (["stop_app"], ["join_cluster", self.nodes[0].name], ["start_app"]):
                node.control(*command)
        self.await_whole()

    def stop(self) -> None:
        """See Cluster."""
        for node in self.nodes:
            node.kill()

    def await_whole(self) -> None:
        """See Cluster."""
        for node in self.nodes:
            wait_until(node.is_whole, node.name)

    def queues(self) -> list[str]:
        """Return lines on the types of the queues, and on what was done to the nodes."""
        types = Counter(self.nodes[0].control("list_queues", "--no-table-headers", "type").splitlines())
        return [
            f"queues: {', '.join(f'{count} {kind}' for kind, count in sorted(types.items()))}",
            f"{self.by_hand} nodes were started again that did not come back by themselves",
        ]

    def _kill(self) -> Callable[[], None]:
        node = self._choice.choice(self.nodes)
        node.kill()
        return lambda: node.start().wait_for(STARTED)  # type: ignore[return-value]  # that it is there

    def _pause(self) -> Callable[[], None]:
        node = self._choice.choice(self.nodes)
        node.send(signal.SIGSTOP)

        def go_on() -> None:
            node.send(signal.SIGCONT)
            try:
                wait_until(node.is_whole, node.name, BY_ITSELF)
            except AssertionError:
                self.by_hand += 1
                node.kill()
                node.start().wait_for(STARTED)

        return go_on

    def _part(self) -> Callable[[], None]:
        """Cut a node's lines to the others, and let it know no word by which they would talk again."""
        node = self._choice.choice(self.nodes)
        others = "[" + ", ".join(f"'{other.name}'" for other in self.nodes if other is not node) + "]"
        each = "lists:foreach(fun(N) -> erlang:set_cookie(N, '{}'){} end, {}), ok."
        node.evaluate(each.format("parted", ", erlang:disconnect_node(N)", others))
        return lambda: node.evaluate(each.format(self._cookie, ", net_kernel:connect_node(N)", others))  # type: ignore[return-value]  # nobody asks what it says


#: Whether a node runs with all the others.
_IS_WHOLE = (
    "rabbit:is_running() andalso length(rabbit_nodes:all_running()) == 3"
    " andalso rabbit_mnesia:cluster_nodes(running) /= []."
)
