# SPDX-License-Identifier: Apache-2.0
"""The message bus: who can be called there, and how.

oslo.messaging acknowledges a message before it dispatches it, so a process that
dies has lost what it was given.  Nothing here may therefore matter to anybody
but the caller who waits for an answer.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import oslo_messaging
from oslo_config import cfg
from oslo_messaging._metrics import client as metrics
from oslo_messaging._tracing import client as tracing
from oslo_messaging.notify.notifier import _notifier_opts as notify_opts

from heatconv import errors
from heatconv.metrics.declared import CASTS
from heatconv.model.nodes import Direction, Node
from heatconv.rpc import rabbit, versions
from heatconv.rpc.serving import Endpoint, Server

LOG = logging.getLogger(__name__)

ENGINE_TOPIC = "heatconv-engine"
WORKER_TOPIC = "heatconv-worker"
PING = 3  #: seconds that a server has to answer whether it is there

#: How nodes that became ready at the same time share messages: few messages, for what lies side by
#: side in a graph is best kept together, but none of so many nodes that one worker would be long at it;
#: unless there are so many messages that whoever rings later would have to wait until all are taken.
FEW_MESSAGES, FEW_NODES, MOST_NODES, MOST_MESSAGES = 4, 2, 32, 512


class Stoppable(Protocol):
    """A server that runs."""

    def stop(self) -> None:
        """Take no more messages."""

    def wait(self) -> None:
        """Wait until those taken are handled."""


class Bus:
    """One process's connection to the bus."""

    def __init__(self, conf: cfg.ConfigOpts, url: str | None = None) -> None:
        """Connect to ``url``, else as ``transport_url`` says, when that is first needed."""
        # oslo.messaging registers these on its global configuration only, then looks in ours.
        conf.register_opts(tracing.oslo_messaging_tracing, group="oslo_messaging_tracing")
        conf.register_opts(metrics.oslo_messaging_metrics, group="oslo_messaging_metrics")
        self._transport = rabbit.at_ease(
            oslo_messaging.get_rpc_transport(conf, url, allowed_remote_exmods=[errors.__name__])
        )
        self._conf = conf
        self._url = url
        self.understood = versions.Understood()

    def client(self, topic: str) -> oslo_messaging.RPCClient:
        """Return a client of the servers of a topic."""
        target = oslo_messaging.Target(topic=topic, version=versions.BASE)
        # One retry: whoever sends does not hang while the broker is away.
        return oslo_messaging.get_rpc_client(self._transport, target, retry=1)

    def serve(
        self,
        topic: str,
        server: str,
        methods: Mapping[str, Callable[..., Any]],
        *,
        threads: int,
        executor: str,
        held: int | None = None,
    ) -> Stoppable:
        """Start to answer calls and casts of a topic.

        Args:
            server: the name of this server on the topic.
            methods: by name; each gets the context's dict and the arguments.
            threads: how many are run at a time.
            executor: "threading" or "eventlet".
            held: how many messages the broker hands over before those are taken, unless the operator
                says otherwise: a process that has stopped holds no more; None for any number.
        """
        running = oslo_messaging.get_rpc_server(
            self._transport,
            oslo_messaging.Target(topic=topic, server=server, version=versions.CURRENT),
            [Endpoint({**methods, "ping": self._pong(topic)})],
            executor=executor,
            access_policy=oslo_messaging.ExplicitRPCAccessPolicy,
            server_cls=Server,
        )
        if held is not None and "oslo_messaging_rabbit" in self._conf:
            self._conf.set_default("rabbit_qos_prefetch_count", held, group="oslo_messaging_rabbit")
        running.start(override_pool_size=threads)
        started: Stoppable = running
        return started

    def ping(self, topic: str, server: str | None = None) -> str:
        """Make sure that a server of a topic, or one by its name, is there and answers.

        Returns the version that all servers of the topic understand, as far as it knows.

        Raises:
            TransportError: it does not.
        """
        client = self.client(topic).prepare(server=server, timeout=PING)
        try:
            answer: str | None = client.call({}, "ping")
        except Exception as error:  # the driver's own, see ``heatconv.rpc.asking``
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise errors.TransportError(reason=reason) from error
        return versions.oldest([answer])  # one of the release before answers null

    def _pong(self, topic: str) -> Callable[..., str]:
        """Return what answers whoever wants to know whether somebody does."""
        return lambda _context: self.understood.of(topic) or versions.CURRENT

    @property
    def response_timeout(self) -> float:
        """The seconds after which nobody waits for an answer any longer."""
        return float(self._conf.rpc_response_timeout)

    def notifier(self, publisher_id: str) -> Notifier | None:
        """Return what publishes notifications; None if the operator has not said how.

        Unless ``[oslo_messaging_notifications] transport_url`` says otherwise they go to this bus.
        """
        self._conf.register_opts(notify_opts, group="oslo_messaging_notifications")
        options = self._conf.oslo_messaging_notifications
        if not options.driver:
            return None
        return Notifier(self._conf, options.transport_url or self._url, publisher_id)


class Notifier:
    """Publishes notifications, and knows whether the bus took them; safe between threads."""

    def __init__(self, conf: cfg.ConfigOpts, url: str | None, publisher_id: str) -> None:
        self._transport = _Notifying(oslo_messaging.get_notification_transport(conf, url))
        self._notifier = oslo_messaging.Notifier(self._transport, publisher_id, retry=1)

    def publish(self, event_type: str, payload: dict[str, Any], *, is_error: bool) -> None:
        """Publish a payload.

        Raises:
            TransportError: the bus did not take it.
        """
        self._transport.failure = None
        (self._notifier.error if is_error else self._notifier.info)({}, event_type, payload)
        failure = self._transport.failure
        if failure is not None:
            raise errors.TransportError(reason=str(failure)) from failure


class _Notifying(oslo_messaging.transport.NotificationTransport):  # type: ignore[misc]  # untyped library
    """A transport that keeps what went wrong: a notifier only logs that, and goes on."""

    def __init__(self, transport: oslo_messaging.transport.NotificationTransport) -> None:
        super().__init__(transport._driver)  # noqa: SLF001 - there is no other way to one with a method more
        self._of_thread = threading.local()

    @property
    def failure(self) -> Exception | None:
        """What went wrong with what this thread sent last."""
        return getattr(self._of_thread, "failure", None)

    @failure.setter
    def failure(self, failure: Exception | None) -> None:
        self._of_thread.failure = failure

    def _send_notification(self, *arguments: Any, **options: Any) -> None:
        try:
            super()._send_notification(*arguments, **options)
        except Exception as error:
            self.failure = error
            raise


class Bell:
    """Rings for nodes and rollbacks; implements ``doorbell.Doorbell``.

    What cannot be sent is logged and left to recovery: the truth is in the
    database already.
    """

    def __init__(self, bus: Bus) -> None:
        self._understood = bus.understood
        self._workers = bus.client(WORKER_TOPIC)
        self._engines = bus.client(ENGINE_TOPIC)

    def ring(self, stack_id: str, traversal_id: str, nodes: Sequence[Node], tree: str | None = None) -> None:
        """Cast ``check_resource`` for the nodes, for a handful at a time.

        ``tree`` is the root of the tree that the stack is in, if who rings knows it.
        """
        handful = min(MOST_NODES, max(FEW_NODES, math.ceil(len(nodes) / FEW_MESSAGES)))
        handful = max(handful, math.ceil(len(nodes) / MOST_MESSAGES))
        for start in range(0, len(nodes), handful):
            self._cast(
                WORKER_TOPIC,
                self._workers,
                "check_resource",
                stack_id=stack_id,
                traversal_id=traversal_id,
                nodes=[
                    (node.resource_id, node.direction is Direction.UPDATE)
                    for node in nodes[start : start + handful]
                ],
                tree=tree,
            )

    def roll_back(self, stack_id: str) -> None:
        """Cast ``prepare_rollback`` to the engines."""
        self._cast(ENGINE_TOPIC, self._engines, "prepare_rollback", stack_id=stack_id)

    def preempt(self, engine_id: str, resource_id: str, traversal_id: str | None = None) -> None:
        """Cast ``give_up`` to one worker."""
        holder = self._workers.prepare(server=engine_id)
        self._cast(WORKER_TOPIC, holder, "give_up", resource_id=resource_id, traversal_id=traversal_id)

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        """Cast ``wake`` to one worker, or to every one."""
        those = self._workers.prepare(server=engine_id, fanout=engine_id is None)
        self._cast(WORKER_TOPIC, those, "wake", resource_id=resource_id)

    def _cast(self, topic: str, client: oslo_messaging.RPCClient, method: str, **arguments: Any) -> None:
        understood = self._understood.of(topic) or versions.BASE
        fitting = versions.fitting(method, arguments, understood)
        if fitting is None:  # recovery does without it
            CASTS.add(method=method, outcome="not understood")
            return
        version, sent = fitting
        try:
            (client if version == versions.BASE else client.prepare(version=version)).cast({}, method, **sent)
            CASTS.add(method=method, outcome="sent")
        except Exception:  # the driver's own, see ``heatconv.rpc.asking``
            CASTS.add(method=method, outcome="failed")
            LOG.exception("%s for %s was not sent", method, arguments)
