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
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import oslo_messaging
from oslo_config import cfg
from oslo_messaging._metrics import client as metrics
from oslo_messaging._tracing import client as tracing
from oslo_messaging.notify.notifier import _notifier_opts as notify_opts
from oslo_messaging.rpc import server as rpc_server

from heatconv import errors
from heatconv.metrics.declared import CASTS, SERVED, SERVED_SECONDS
from heatconv.model.nodes import Direction, Node
from heatconv.rpc import rabbit
from heatconv.rpc.pulse import Pulse

LOG = logging.getLogger(__name__)

ENGINE_TOPIC = "heatconv-engine"
WORKER_TOPIC = "heatconv-worker"
VERSION = "1.0"
PING = 3  #: seconds that a server has to answer whether it is there

#: How nodes that became ready at the same time share messages: few messages, for what lies side by
#: side in a graph is best kept together, but none of so many nodes that one worker would be long at it;
#: unless there are so many messages that whoever rings later would have to wait until all are taken.
FEW_MESSAGES, MOST_NODES, MOST_MESSAGES = 4, 32, 512

_ERRORS = "heatconv.errors"


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
            oslo_messaging.get_rpc_transport(conf, url, allowed_remote_exmods=[_ERRORS])
        )
        self._conf = conf
        self._url = url

    def client(self, topic: str) -> oslo_messaging.RPCClient:
        """Return a client of the servers of a topic."""
        target = oslo_messaging.Target(topic=topic, version=VERSION)
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
            oslo_messaging.Target(topic=topic, server=server, version=VERSION),
            [_Endpoint({**methods, "ping": _pong})],
            executor=executor,
            access_policy=oslo_messaging.ExplicitRPCAccessPolicy,
            server_cls=_Server,
        )
        if held is not None and "oslo_messaging_rabbit" in self._conf:
            self._conf.set_default("rabbit_qos_prefetch_count", held, group="oslo_messaging_rabbit")
        running.start(override_pool_size=threads)
        started: Stoppable = running
        return started

    def ping(self, topic: str, server: str | None = None) -> None:
        """Make sure that a server of a topic, or one by its name, is there and answers.

        Raises:
            TransportError: it does not.
        """
        client = self.client(topic).prepare(server=server, timeout=PING)
        try:
            client.call({}, "ping")
        except Exception as error:  # the driver's own, see ``heatconv.rpc.asking``
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise errors.TransportError(reason=reason) from error

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


class _Server(rpc_server.RPCServer):  # type: ignore[misc]  # untyped library
    """A server that leaves its connection to the end of the process.

    To close it politely is to take and acknowledge what has come since ``stop``
    and then to drop it; a connection that breaks gives it back to its queue.

    Whoever awaits an answer hears that this process runs.  Who has asked again while
    the call waited for a thread is answered once.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._pulse = Pulse()

    def _on_incoming(self, incoming: list[Any]) -> None:
        self._pulse.begin(incoming[0])
        super()._on_incoming(incoming)

    def _process_incoming(self, incoming: list[Any]) -> None:
        try:
            if not self._pulse.is_in_vain(incoming[0]):
                super()._process_incoming(incoming)
        finally:
            self._pulse.end(incoming[0])

    def wait(self) -> None:
        """Wait until those taken are handled."""
        self._work_executor.shutdown(wait=True)
        self._pulse.stop()


class _Endpoint:
    """Offers a table of functions to oslo.messaging, which looks for attributes."""

    def __init__(self, methods: Mapping[str, Callable[..., Any]]) -> None:
        self.target = oslo_messaging.Target(version=VERSION)
        for name, method in methods.items():
            setattr(self, name, _exposed(name, method))


def _pong(_context: Mapping[str, Any]) -> None:
    """Answer whoever wants to know whether somebody does."""


def _exposed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be called from the bus; users' mistakes go back without a traceback in our log."""

    def call(context: Mapping[str, Any], **arguments: Any) -> Any:
        outcome, began = "error", time.perf_counter()
        try:
            answer = method(context, **arguments)
        except errors.UserError as error:
            outcome = "refused"
            raise as_known(error) from None
        else:
            outcome = "done"
            return answer
        finally:
            SERVED.add(method=name, outcome=outcome)
            SERVED_SECONDS.observe(time.perf_counter() - began, method=name)

    expected = oslo_messaging.expected_exceptions(errors.UserError)(call)
    return oslo_messaging.expose(expected)  # type: ignore[no-any-return]  # untyped library


def as_known(error: errors.HeatconvError) -> errors.HeatconvError:
    """Return an error as its class in ``heatconv.errors``, which both sides of the bus know."""
    known = next(cls for cls in type(error).__mro__ if cls.__module__ == _ERRORS)
    known_error: errors.HeatconvError = known(error.args[0], **error.kwargs)
    return known_error


class Bell:
    """Rings for nodes and rollbacks; implements ``doorbell.Doorbell``.

    What cannot be sent is logged and left to recovery: the truth is in the
    database already.
    """

    def __init__(self, bus: Bus) -> None:
        self._workers = bus.client(WORKER_TOPIC)
        self._engines = bus.client(ENGINE_TOPIC)

    def ring(self, stack_id: str, traversal_id: str, nodes: Sequence[Node], tree: str | None = None) -> None:
        """Cast ``check_resource`` for each node; where they are many, for a handful at a time.

        ``tree`` is the root of the tree that the stack is in, if who rings knows it.
        """
        handful = min(MOST_NODES, math.ceil(len(nodes) / FEW_MESSAGES))
        handful = max(handful, math.ceil(len(nodes) / MOST_MESSAGES))
        for start in range(0, len(nodes), handful or 1):
            self._cast(
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
        self._cast(self._engines, "prepare_rollback", stack_id=stack_id)

    def preempt(self, engine_id: str, resource_id: str, traversal_id: str | None = None) -> None:
        """Cast ``give_up`` to one worker."""
        holder = self._workers.prepare(server=engine_id)
        self._cast(holder, "give_up", resource_id=resource_id, traversal_id=traversal_id)

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        """Cast ``wake`` to one worker, or to every one."""
        those = self._workers.prepare(server=engine_id, fanout=engine_id is None)
        self._cast(those, "wake", resource_id=resource_id)

    @staticmethod
    def _cast(client: oslo_messaging.RPCClient, method: str, **arguments: Any) -> None:
        try:
            client.cast({}, method, **arguments)
            CASTS.add(method=method, outcome="sent")
        except Exception:  # the driver's own, see ``heatconv.rpc.asking``
            CASTS.add(method=method, outcome="failed")
            LOG.exception("%s for %s was not sent", method, arguments)
