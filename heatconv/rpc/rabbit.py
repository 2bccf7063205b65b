# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ as calls and casts need it: oslo.messaging's connections, with less ado about each message.

Notifications keep oslo.messaging's own: they are acknowledged by another thread than the one that
hears them, and that one has to look for it all the time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from amqp.exceptions import NotFound
from oslo_messaging._drivers import amqp, common, impl_rabbit
from oslo_messaging.exceptions import MessageUndeliverable
from oslo_messaging.transport import RPCTransport

from heatconv.metrics.declared import BUS_BROKEN

LOG = logging.getLogger(__name__)

LOOK = 1.0  #: seconds from one look of who listens, whether to stop, to the next
MOMENT = 0.001  #: the same, after something was asked of RabbitMQ

#: Seconds from one look of who listens, whether the queues are there, to the next.  RabbitMQ says so of a
#: queue that is deleted, but not of one that was made anew while its node went down, and went with that.
LOOK_FOR_QUEUES = 5.0

#: What is no fault of the connection, and for who sends or listens.
_ANSWERS = (amqp.AMQPDestinationNotFound, common.Timeout, MessageUndeliverable)


class Connection(impl_rabbit.Connection):  # type: ignore[misc]  # untyped library
    """A connection to RabbitMQ."""

    _due = 0.0  #: when to look for the queues again, by ``time.monotonic``

    def ensure(self, method: Callable[[], Any], *arguments: Any, **options: Any) -> Any:
        """Do something with the connection, and again if that is broken, on a new one.

        The base makes ready for the worst before it tries, which takes as long as to send a message.
        """
        if self.channel is not None and self.connection.connected:
            try:
                return method()
            except _ANSWERS:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it was, the base comes upon it, and sees to it
                BUS_BROKEN.add()
                LOG.info("RabbitMQ is asked again, on a new connection if need be: %s", error)
        return super().ensure(method, *arguments, **options)

    def consume(self, timeout: float | None = None) -> None:
        """Hand on what comes next; ``timeout`` is the least that is waited for it, in seconds, as a rule.

        Who listens is back after a millisecond, then two, then four, to see whether there is something
        to acknowledge: calls and casts are acknowledged as they come.

        Raises:
            Timeout: nothing has come.
        """
        is_to_look = time.monotonic() >= self._due
        if is_to_look:
            self._look_for_queues()
        # What comes while RabbitMQ is asked for something, such as to begin to send, is handed on meanwhile,
        # and must not wait for what comes next.
        asks = is_to_look or self._new_tags
        super().consume(MOMENT if asks else max(timeout or 0, LOOK))

    def _look_for_queues(self) -> None:
        """Make the queues anew that it listens to, and listen again, if one of them is gone."""
        self._due = time.monotonic() + LOOK_FOR_QUEUES
        if self.channel is None or not self.connection.connected:
            return
        with self._connection_lock:
            try:
                self._make_anew_what_is_gone()
            except Exception as error:  # noqa: BLE001 - whatever it was, the base comes upon it, and sees to it
                LOG.info("RabbitMQ could not be asked for the queues: %s", error)

    def _make_anew_what_is_gone(self) -> None:
        try:
            for consumer in self._consumers:
                self.channel.queue_declare(consumer.queue_name, passive=True)
        except NotFound as gone:  # by which the channel is closed
            BUS_BROKEN.add()
            LOG.warning("RabbitMQ has lost a queue, which is made anew: %s", gone)
            self._new_tags = set(self._consumers.values())
            self._set_current_channel(self.connection.channel())


def at_ease(transport: RPCTransport) -> RPCTransport:
    """Return a transport whose connections are these, if it is RabbitMQ's."""
    pool = getattr(transport._driver, "_connection_pool", None)  # noqa: SLF001 - there is no option for it
    if pool is not None and pool.connection_cls is impl_rabbit.Connection:
        pool.connection_cls = Connection
    return transport
