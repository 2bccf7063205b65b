# SPDX-License-Identifier: Apache-2.0
"""Group commit: what several threads ask for at the same time shares one transaction.

Most of what a short transaction costs is to open it, to send its statements one
by one, and to make it last.  Who comes while nothing is under way begins at
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
from functools import partial
from typing import Generic, TypeVar, cast

from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import Database, writing
from heatconv.metrics.declared import GROUP_SIZE

LOG = logging.getLogger(__name__)

MOST = 64  #: calls in one transaction: what others wait for its locks stays short
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


class GroupCommit(Generic[C, R]):
    """Takes calls from any thread, and has one of those threads see to all that have come."""

    def __init__(
        self,
        see_to: Callable[[Sequence[C]], Sequence[R | None]],
        tree_of: Callable[[C], str],
        abreast: int,
    ) -> None:
        """Keep what is handed in.

        Args:
            see_to: sees to some calls, all or none.  Of several it may leave some
                untouched and return None for them: each of these is then seen to alone.
            tree_of: tells what tree of stacks a call is about.
            abreast: how many groups may be under way at a time.
        """
        self._abreast = abreast
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
        ticket: _Ticket[C, R] = _Ticket(call, self._tree_of(call))
        with self._lock:
            begins = self._may_begin(ticket.tree)
            if begins:
                ticket.beside = self._under_way >= self._abreast
                self._begin([ticket])
            else:
                self._waiting.append(ticket)
        if not begins:
            ticket.asleep.acquire()
        if ticket.group:
            self._lead(ticket.group)
        if ticket.result is None:
            (ticket.result,) = self._see_to([call])
        return cast("R", ticket.result)  # one call that is seen to alone is not left out

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
        GROUP_SIZE.observe(len(group))
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
            LOG.info("%d writes are made one by one: %s", len(group), error)
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


def grouped(
    see_to: Callable[[Connection, Sequence[C]], Sequence[R | None]], tree_of: Callable[[C], str]
) -> Callable[[Database, C], R]:
    """Turn the transaction of some calls into ``function(database, call)``.

    Of several calls it may leave some out, with None, that would have to wait for other
    transactions, and has to have written nothing for them; each is then seen to
    alone.  If the transaction fails, nothing of it holds, and each call is seen to alone.
    """
    transaction = writing(see_to)

    def run(database: Database, call: C) -> R:
        known: GroupCommit[C, R] | None = database.groups.get(run)
        if known is None:
            new: GroupCommit[C, R] = GroupCommit(
                partial(transaction, database), tree_of, database.groups_abreast
            )
            known = database.groups.setdefault(run, new)
        return known(call)

    return run
