# SPDX-License-Identifier: Apache-2.0
"""A bus inside one process: oslo.messaging's driver for ``heatconv-memory://``.

oslo.messaging has one of its own, for tests: its listeners look for messages
twenty times a second, so each call and each cast waits for them, and a process
that has nothing to do is woken all the time.  Here whoever listens is told.
Messages are made JSON and back, as on a real bus: nobody shares what they hold.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import oslo_messaging
from oslo_messaging._drivers import base
from oslo_serialization import jsonutils

from heatconv import errors

URL = "heatconv-memory://"

T = TypeVar("T")
Address = tuple[str, str | None]  #: a topic, and one of its servers or whichever comes first
Reply = tuple[Any, BaseException | None]


class _Letter(NamedTuple):
    """A message on its way, and where its sender waits for the reply, if it does."""

    context: Any
    message: Any
    replies: queue.SimpleQueue[Reply] | None


class _Post:
    """The letters that nobody has taken yet; safe between threads."""

    def __init__(self) -> None:
        self._letters: dict[Address, deque[_Letter]] = {}
        self._changed = threading.Condition()

    def open(self, address: Address) -> None:
        """Take letters for an address from now on."""
        with self._changed:
            self._letters.setdefault(address, deque())

    def deliver(self, letter: _Letter, topic: str, server: str | None, *, to_all: bool) -> None:
        """Keep a letter for a server, for all, or for whichever comes first; that one may be yet to come."""
        with self._changed:
            if to_all:
                addresses = [known for known in self._letters if known[0] == topic and known[1] is not None]
            else:
                addresses = [(topic, server)]
                if server is None:
                    self._letters.setdefault((topic, None), deque())
            for address in addresses:
                if address in self._letters:
                    self._letters[address].append(letter)
            self._changed.notify_all()

    def take(
        self, addresses: Sequence[Address], stopped: threading.Event, timeout: float | None
    ) -> _Letter | None:
        """Wait for a letter for one of some addresses; None if there is none in time, or no wish for more."""
        with self._changed:
            self._changed.wait_for(
                lambda: stopped.is_set() or any(self._letters[each] for each in addresses), timeout
            )
            full = (self._letters[each] for each in addresses if self._letters[each])
            return None if stopped.is_set() else next((letters.popleft() for letters in full), None)

    def stop(self, stopped: threading.Event) -> None:
        """Let whoever takes letters until ``stopped`` go."""
        with self._changed:
            stopped.set()
            self._changed.notify_all()


class MemoryDriver(base.BaseDriver):  # type: ignore[misc]  # untyped library
    """Carries messages between the threads of a process, which are lost with it."""

    def __init__(
        self, conf: Any, url: Any, default_exchange: Any = None, allowed_remote_exmods: Any = None
    ) -> None:
        """Start with no messages; each transport has its own."""
        super().__init__(conf, url, default_exchange, allowed_remote_exmods)
        self._post = _Post()

    def send(
        self,
        target: oslo_messaging.Target,
        ctxt: Any,
        message: Any,
        wait_for_reply: Any = None,
        timeout: float | None = None,
        **_options: Any,
    ) -> Any:
        """Send a message; return the reply if one is waited for.

        Raises:
            Exception: what the server raised.
            MessagingTimeout: there was no reply in so many seconds.
        """
        replies: queue.SimpleQueue[Reply] | None = queue.SimpleQueue() if wait_for_reply else None
        letter = _Letter(_copied(ctxt), _copied(message), replies)
        self._post.deliver(letter, target.topic, target.server, to_all=bool(target.fanout))
        if replies is None:
            return None
        try:
            reply, failure = replies.get(timeout=timeout)
        except queue.Empty:
            raise oslo_messaging.MessagingTimeout(f"no reply on topic {target.topic}") from None
        if failure is not None:
            raise failure
        return reply

    def send_notification(self, *_arguments: Any, **_options: Any) -> None:
        """Drop a notification: nobody in this process listens to them."""

    def listen(self, target: oslo_messaging.Target, batch_size: int, batch_timeout: float | None) -> Any:
        """Return what takes the messages of a server and those of its topic."""
        addresses = [(target.topic, target.server), (target.topic, None)]
        return base.PollStyleListenerAdapter(_Listener(self._post, addresses), batch_size, batch_timeout)

    def listen_for_notifications(self, *_arguments: Any, **_options: Any) -> Any:
        """Refuse: nobody in this process sends them.

        Raises:
            NotSupported: always.
        """
        raise errors.NotSupported(feature="Listening to notifications inside one process")

    def cleanup(self) -> None:
        """Do nothing: what is in memory goes with it."""


class _Listener(base.PollStyleListener):  # type: ignore[misc]  # untyped library
    """Takes messages for some addresses."""

    def __init__(self, post: _Post, addresses: Sequence[Address]) -> None:
        super().__init__()
        self._post = post
        self._addresses = addresses
        self._stopped = threading.Event()
        for address in addresses:
            post.open(address)

    @base.batch_poll_helper  # type: ignore[untyped-decorator]  # untyped library
    def poll(self, timeout: float | None = None) -> _Incoming | None:
        """Wait for a message; None if there is none in so many seconds, or it was stopped."""
        letter = self._post.take(self._addresses, self._stopped, timeout)
        if letter is None:
            return None
        return _Incoming(letter, lambda: self._post.deliver(letter, *self._addresses[1], to_all=False))

    def stop(self) -> None:
        """Take no more messages."""
        self._post.stop(self._stopped)


class _Incoming(base.RpcIncomingMessage):  # type: ignore[misc]  # untyped library
    """A message that was taken."""

    def __init__(self, letter: _Letter, requeue: Callable[[], None]) -> None:
        super().__init__(letter.context, letter.message)
        self._replies = letter.replies
        self._requeue = requeue

    def reply(self, reply: Any = None, failure: Any = None) -> None:
        """Send a reply, or the error (``sys.exc_info()``) that came instead, to whoever waits for it."""
        if self._replies is not None:
            self._replies.put((_copied(reply), failure[1] if failure else None))

    def requeue(self) -> None:
        """Give the message back."""
        self._requeue()

    def heartbeat(self) -> None:
        """Do nothing: who waits for a reply waits as long as it takes."""


def _copied(value: T) -> T:
    """Return what a value is at the other end of a bus."""
    copy: T = jsonutils.loads(jsonutils.dumps(value))
    return copy
