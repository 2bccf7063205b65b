# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ as calls and casts need it: oslo.messaging's connections, with less ado about each message.

Notifications keep oslo.messaging's own: they are acknowledged by another thread than the one that
hears them, and that one has to look for it all the time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from oslo_messaging._drivers import amqp, common, impl_rabbit
from oslo_messaging.exceptions import MessageUndeliverable
from oslo_messaging.transport import RPCTransport

from heatconv.metrics.declared import BUS_BROKEN

LOG = logging.getLogger(__name__)

LOOK = 1.0  #: seconds from one look of who listens, whether to stop, to the next

#: What is no fault of the connection, and for who sends or listens.
_ANSWERS = (amqp.AMQPDestinationNotFound, common.Timeout, MessageUndeliverable)


class Connection(impl_rabbit.Connection):  # type: ignore[misc]  # untyped library
    """A connection to RabbitMQ."""

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
        """Hand on what comes next; ``timeout`` is the least that is waited for it, in seconds.

        Who listens is back after a millisecond, then two, then four, to see whether there is something
        to acknowledge: calls and casts are acknowledged as they come.

        Raises:
            Timeout: nothing has come.
        """
        super().consume(max(timeout or 0, LOOK))


def at_ease(transport: RPCTransport) -> RPCTransport:
    """Return a transport whose connections are these, if it is RabbitMQ's."""
    pool = getattr(transport._driver, "_connection_pool", None)  # noqa: SLF001 - there is no option for it
    if pool is not None and pool.connection_cls is impl_rabbit.Connection:
        pool.connection_cls = Connection
    return transport
