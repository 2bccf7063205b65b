# SPDX-License-Identifier: Apache-2.0
"""How a server answers what comes from the bus: what it does not understand it refuses in a sentence."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import oslo_messaging
from oslo_messaging.dispatcher import DispatcherBase
from oslo_messaging.rpc import server as rpc_server

from heatconv import errors
from heatconv.metrics.declared import SERVED, SERVED_SECONDS
from heatconv.rpc import versions
from heatconv.rpc.asked import note_arrival
from heatconv.rpc.pulse import Pulse

LOG = logging.getLogger(__name__)


class Server(rpc_server.RPCServer):  # type: ignore[misc]  # untyped library
    """A server that leaves its connection to the end of the process.

    To close it politely is to take and acknowledge what has come since ``stop``
    and then to drop it; a connection that breaks gives it back to its queue.

    Whoever awaits an answer hears that this process runs.  Who has asked again while
    the call waited for a thread is answered once.  What it does not understand it refuses, and does nothing.
    """

    def __init__(self, transport: Any, target: Any, dispatcher: Any, executor: str | None = None) -> None:
        super().__init__(transport, target, _Dispatcher(dispatcher), executor)
        self._pulse = Pulse()

    def _on_incoming(self, incoming: list[Any]) -> None:
        note_arrival(incoming[0].ctxt)
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


class _Dispatcher(DispatcherBase):  # type: ignore[misc]  # untyped library
    """Refuses in a sentence what is of a version, or has a name, that nobody here knows."""

    def __init__(self, dispatcher: oslo_messaging.RPCDispatcher) -> None:
        self._dispatcher = dispatcher

    @oslo_messaging.expected_exceptions(errors.NotUnderstood)  # type: ignore[untyped-decorator]  # untyped library
    def dispatch(self, incoming: Any) -> Any:
        """Carry out a message.

        Raises:
            ExpectedException: whoever waits for an answer gets what is in it.
        """
        try:
            return self._dispatcher.dispatch(incoming)
        except (oslo_messaging.NoSuchMethod, oslo_messaging.UnsupportedVersion) as error:
            version = incoming.message.get("version")
            raise _refused(f"{error.method} as of version {version} of what is said on the bus") from None


def _refused(what: str) -> errors.NotUnderstood:
    LOG.warning("a message was refused, and nothing done: this release does not know %s", what)
    return errors.NotUnderstood(reason=what)


class Endpoint:
    """Offers a table of functions to oslo.messaging, which looks for attributes."""

    def __init__(self, methods: Mapping[str, Callable[..., Any]]) -> None:
        self.target = oslo_messaging.Target(version=versions.CURRENT)
        for name, method in methods.items():
            setattr(self, name, _exposed(name, method))


def _exposed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be called from the bus; users' mistakes go back without a traceback in our log."""
    signature = inspect.signature(method)

    def call(context: Mapping[str, Any], **arguments: Any) -> Any:
        try:
            signature.bind(context, **arguments)
        except TypeError as error:
            raise _refused(f"{name} asked for like that ({error})") from None
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

    expected = oslo_messaging.expected_exceptions(errors.UserError, errors.NotUnderstood)(call)
    return oslo_messaging.expose(expected)  # type: ignore[no-any-return]  # untyped library


def as_known(error: errors.HeatconvError) -> errors.HeatconvError:
    """Return an error as its class in ``heatconv.errors``, which both sides of the bus know."""
    known = next(cls for cls in type(error).__mro__ if cls.__module__ == errors.__name__)
    known_error: errors.HeatconvError = known(error.args[0], **error.kwargs)
    return known_error
