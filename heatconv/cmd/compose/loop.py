# SPDX-License-Identifier: Apache-2.0
"""The loop of the HTTP server: a turn costs what happens in it, and not the number of connections.

Waitress' own loop asks every connection, before each turn, what it waits for.  A thousand clients that
wait are so in the way of one who does not.  Here a connection is asked when the answer may be another,
and the system is told of it when it makes a difference: a client that sends nothing while its request is
answered is listened to all the while, which takes two calls less for each request.
"""

from __future__ import annotations

import selectors
from collections import Counter, deque
from contextlib import suppress
from typing import Any

from waitress import wasyncore


class Loop(dict[int, Any]):
    """The files that a server waits for, by their numbers: its listener, its connections, what wakes it.

    What a connection waits for changes with what happens to it (``turn`` sees to that), while a thread
    is at one of its requests (``begin`` and ``end`` say when), and whenever ``look_at`` says so.

    Concurrency: one thread takes the turns. ``begin`` and ``end`` may be called by any, and files may
    be closed by any; what a thread has done to a connection is seen in the turn that it wakes, if it
    wakes the loop before ``end``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._selector = selectors.DefaultSelector()  # of what green threads may use, if there are any
        self._wanted: dict[int, int] = {}  #: the events that files wait for
        self._heard: dict[int, int] = {}  #: those that the selector reports: they may be more
        self._to_look_at: set[Any] = set()
        self._steps: deque[tuple[Any, int]] = deque()  #: a thread begins (1), or has ended (-1)
        self._threads_at: Counter[Any] = Counter()

    def __setitem__(self, number: int, file: Any) -> None:
        self._ignore(number)  # of another file that had the number
        super().__setitem__(number, file)
        self._to_look_at.add(file)

    def __delitem__(self, number: int) -> None:
        super().__delitem__(number)
        self._ignore(number)

    def begin(self, file: Any) -> None:
        """Note that a thread is to be at a request of a connection."""
        self._steps.append((file, 1))

    def end(self, file: Any) -> None:
        """Note that a thread is no longer at it; the next one may have begun."""
        self._steps.append((file, -1))

    def look_at(self, files: Any) -> None:
        """Ask files what they wait for, at the next turn."""
        self._to_look_at.update(files)

    def turn(self, seconds: float) -> None:
        """Wait for something to happen, for so long at most, and attend to it."""
        while self._steps:
            file, step = self._steps.popleft()
            self._threads_at[file] += step
            self._to_look_at.add(file)
            if not self._threads_at[file]:
                del self._threads_at[file]
        self._to_look_at.update(self._threads_at)
        while self._to_look_at:
            self._look(self._to_look_at.pop())
        for key, events in self._selector.select(seconds):
            if not self._is_ours(key.fd, key.data):
                self._ignore(key.fd)
                continue
            self._to_look_at.add(key.data)
            wanted = self._wanted[key.fd]
            if not events & wanted:
                self._hear(key.fd, key.data, wanted)
            if events & wanted & selectors.EVENT_READ:
                wasyncore.read(key.data)
            if events & wanted & selectors.EVENT_WRITE and self._is_ours(key.fd, key.data):
                wasyncore.write(key.data)

    def close(self) -> None:
        """Close all files."""
        wasyncore.close_all(self)
        self._selector.close()

    def _look(self, file: Any) -> None:
        number = file._fileno  # noqa: SLF001 - waitress has no other name for it
        if not self._is_ours(number, file):
            return
        events = selectors.EVENT_READ if file.readable() else 0
        if file.writable() and not file.accepting:
            events |= selectors.EVENT_WRITE
        self._wanted[number] = events
        if events & ~self._heard.get(number, 0):
            self._hear(number, file, events)

    def _hear(self, number: int, file: Any, events: int) -> None:
        """Have the selector report these events of a file, and no others."""
        if not events:
            self._ignore(number)
            return
        if number in self._heard:
            self._selector.modify(number, events, file)
        else:
            self._selector.register(number, events, file)
        self._heard[number] = events

    def _is_ours(self, number: int | None, file: Any) -> bool:
        """Return whether a file is still open; its number may be that of another one by now."""
        return number is not None and self.get(number) is file

    def _ignore(self, number: int) -> None:
        self._wanted.pop(number, None)
        if self._heard.pop(number, None) is None:
            return
        with suppress(KeyError):
            self._selector.unregister(number)
