# SPDX-License-Identifier: Apache-2.0
"""Calls that go together: what several threads ask for at the same time is seen to at once.

Most of what a short transaction costs is to open it, to send its statements one
by one, and to make it last; most of what a call of an engine costs is its message.
Who comes while nothing is under way begins at
once; those who come meanwhile are the next group.  Those of a group tend to come
back together, so the next one waits until as many are there, or until for a moment
nobody comes; who has been alone is not kept waiting.  A tree of stacks that has
nothing under way waits for nobody at all: a small one would be as slow as the large
groups of a huge one beside it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

LOG = logging.getLogger(__name__)

MOST = 64  #: calls in one group: others wait for what it takes, such as locks
MOMENT = 0.001  #: seconds without anybody coming after which a group begins
BESIDE = 2  #: calls of trees that have nothing under way, beside the groups

C = TypeVar("C")
R = TypeVar("R")


class _Ticket(Generic[C, R]):
    """A call, and what becomes of it."""

    __slots__ = ("asleep", "beside", "call", "group", "result", "tree")

    def __init__(self, call: C, tree: str) -> None:
        self.call = call
        self.tree = tree
        self.beside = False  #: whether it is seen to beside the groups
        self.group: list[_Ticket[C, R]] = []  #: whom it is the first of, and has to see to
        self.result: R | None = None  #: None as long as nobody has seen to it
        #: Held until the call is seen to, or its thread has to see to a group.  All that is
        #: asked of it is to wake one thread once: an event takes nearly twice as long for that.
        self.asleep = threading.Lock()
        self.asleep.acquire()


class Grouping(Generic[C, R]):
    """Takes calls from any thread, and has one of those threads see to all that have come."""

    def __init__(
        self,
        see_to: Callable[[Sequence[C]], Sequence[R | None]],
        tree_of: Callable[[C], str],
        abreast: int,
        *,
        patience: float = -1,
        note_size: Callable[[int], None] = lambda _size: None,
    ) -> None:
        """Keep what is handed in.

        Args:
            see_to: sees to some calls, all or none.  Of several it may leave some
                untouched and return None for them: each of these is then seen to alone.
            tree_of: tells what tree of stacks a call is about.
            abreast: how many groups may be under way at a time.
            patience: the seconds after which a call that has not begun is seen to alone, whatever is
                under way; negative: it waits for its group.
            note_size: is given the size of each group that begins.
        """
        self._abreast = abreast
        self._patience = patience
        self._note_size = note_size
        self._tree_of = tree_of
        self._see_to = see_to
        self._lock = threading.Lock()
        self._waiting: deque[_Ticket[C, R]] = deque()
        self._under_way = 0
        self._company = 1  #: how many calls came together lately
        self._trees: Counter[str] = Counter()  #: of the calls that are under way

    def __call__(self, call: C) -> R:
        """Return what came of a call.

        Raises:
            Exception: whatever seeing to it alone raises.
        """
        (ticket,) = self._enter([call])
        return self._answer(ticket)

    def each(self, calls: Sequence[C]) -> list[R | Exception]:
        """Return what came of calls that a thread makes at the same time, be it what seeing to one raises."""
        return [self._outcome(ticket) for ticket in self._enter(calls)]

    def _enter(self, calls: Sequence[C]) -> list[_Ticket[C, R]]:
        """Begin with some calls, or let them wait; each is to be answered by the thread that makes them."""
        tickets = [_Ticket[C, R](call, self._tree_of(call)) for call in calls]
        if not tickets:
            return []
        with self._lock:
            if self._may_begin(tickets[0].tree):
                tickets[0].beside = self._under_way >= self._abreast
                self._begin([*tickets])  # to which others are added
            else:
                self._waiting.extend(tickets)
        return tickets

    def _outcome(self, ticket: _Ticket[C, R]) -> R | Exception:
        try:
            return self._answer(ticket)
        except Exception as error:  # noqa: BLE001 - returned: what goes wrong for one call must not end the others
            return error

    def _answer(self, ticket: _Ticket[C, R]) -> R:
        if not ticket.group:
            self._wait(ticket)
        if ticket.group:
            self._lead(ticket.group)
        if ticket.result is None:
            (ticket.result,) = self._see_to([ticket.call])
        return cast("R", ticket.result)  # one call that is seen to alone is not left out

    def _wait(self, ticket: _Ticket[C, R]) -> None:
        """Wait until a call is seen to, or has to be seen to by who makes it."""
        if ticket.asleep.acquire(timeout=self._patience):
            return
        with self._lock:
            is_left = ticket in self._waiting
            if is_left:
                self._waiting.remove(ticket)
        if not is_left:
            ticket.asleep.acquire()  # of a group that has begun

    def _may_begin(self, tree: str) -> bool:
        if tree in self._trees:
            return self._under_way < self._abreast
        return self._under_way < self._abreast + BESIDE

    def _begin(self, group: list[_Ticket[C, R]]) -> None:
        self._under_way += 1
        self._trees.update(ticket.tree for ticket in group)
        group[0].group = group

    def _lead(self, group: list[_Ticket[C, R]]) -> None:
        """See to a group, and let the first of those who have come meanwhile see to them."""
        if self._company > 1 and not group[0].beside:
            self._gather(group)
        self._note_size(len(group))
        leader, *others = group
        try:
            if others:
                self._share(group)
            else:
                (leader.result,) = self._see_to([leader.call])
        finally:
            self._pass_on(group)
            for ticket in others:
                ticket.asleep.release()

    def _gather(self, group: list[_Ticket[C, R]]) -> None:
        """Take in who comes, until nobody does for a moment or as many are there as lately."""
        comes = True
        while comes and len(group) < self._company:
            time.sleep(MOMENT)
            with self._lock:
                more = self._take(MOST - len(group))
                self._trees.update(ticket.tree for ticket in more)
            group += more
            comes = bool(more)
        self._company = len(group)

    def _share(self, group: Sequence[_Ticket[C, R]]) -> None:
        try:
            results = self._see_to([ticket.call for ticket in group])
        except Exception as error:  # noqa: BLE001 - whatever it was shows again in the call that it is about
            LOG.info("%d calls are seen to one by one: %s", len(group), error)
            return
        for ticket, result in zip(group, results, strict=True):
            ticket.result = result

    def _pass_on(self, ended: Sequence[_Ticket[C, R]]) -> None:
        with self._lock:
            self._under_way -= 1
            self._trees -= Counter(ticket.tree for ticket in ended)
            if self._under_way >= self._abreast:  # it was beside the groups
                return
            group = self._take(MOST)
            if not group:
                return
            self._company = min(MOST, len(ended) + len(group))
            self._begin(group)
        group[0].asleep.release()

    def _take(self, most: int) -> list[_Ticket[C, R]]:
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
