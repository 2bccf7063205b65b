# SPDX-License-Identifier: Apache-2.0
"""Requests that were carried out, and what was answered: asked again, none is carried out twice.

Whoever asks gives each request an id of its own, and gives the same one when it
asks again.  What a request does is decided by one transaction, that of a
``@deciding`` function, and the request's row is written in it: of two engines
that are asked the same, the row's key lets one through, and the other, however
late, changes nothing and reads the answer that the first one gave.  One that nobody
waits for any more is not begun: whoever was answered that nobody could be reached,
and has asked for something else since, would find that undone.

Which request is being carried out is known to the thread that does it.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.db.plumbing.together import Together
from heatconv.db.plumbing.types import seconds_ago, utcnow
from heatconv.db.tables import request as table

#: Seconds after which a request is not carried out any more: whoever asked has long given up.
LATEST = 600

#: Seconds that rows are kept: none can be missed by an engine that is not too late, even if the
#: clocks of those who ask and that of the database are minutes apart.
KEPT = 3600

P = ParamSpec("P")
R = TypeVar("R")


class AlreadyAnswered(BaseException):
    """Another engine, or this one before, has carried out the request.

    No ``Exception``: it passes through plugins, which may catch all of those, to
    whoever carries out requests.
    """


@dataclass
class Request:
    """A request that is being carried out."""

    id: str
    asked_at: float  #: seconds since the epoch, by the clock of who asks
    until: float | None = None  #: when nobody waits for the answer any more, by ``time.monotonic``
    answer: Callable[[Any], Any] = lambda _result: None  #: what is answered, of what the transaction returned
    is_kept: bool = False
    _is_written: bool = False  #: in a transaction that may still fail

    def check_time(self) -> None:
        """Make sure that somebody still waits for the answer.

        Raises:
            TransportError: nobody does.
        """
        if self.until is not None and time.monotonic() > self.until:
            raise errors.TransportError(reason="nobody waited for the answer any more; nothing was done")

    def decide(self, connection: Connection, result: Any) -> None:
        """Write the request's row, as part of the transaction that returns ``result``.

        Raises:
            TransportError: nobody waits for the answer any more.
        """
        if not self.is_kept:
            self.check_time()
            keep(connection, self, {"answer": self.answer(result)})
            self._is_written = True

    def settle(self) -> None:
        """Note that the transaction has been committed."""
        self.is_kept = self.is_kept or self._is_written

    def undo(self) -> None:
        """Note that the transaction begins, perhaps not for the first time."""
        self._is_written = False


_CURRENT: ContextVar[Request | None] = ContextVar("request", default=None)


@contextmanager
def carrying_out(request: Request | None) -> Iterator[None]:
    """Let what this thread decides be decided for a request; None: for none, such as what comes before."""
    token = _CURRENT.set(request)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def answer_with(answer: Callable[[Any], Any]) -> None:
    """Say what is answered to the request under way, given what its deciding function returns."""
    current = _CURRENT.get()
    if current is not None:
        current.answer = answer


def deciding(
    function: Callable[Concatenate[Connection, P], R],
) -> Callable[Concatenate[Database, P], R]:
    """Run a function as ``@writing`` does; if a request is under way, it is carried out by that.

    One that is named ``try_*`` has decided nothing if it returns None or False.

    Raises:
        AlreadyAnswered: the request was carried out before, and nothing is changed.
        TransportError: nobody waits for the answer any more, and nothing is changed.
    """
    conditional = function.__name__.startswith("try_")

    def decide(connection: Connection, /, *args: P.args, **kwargs: P.kwargs) -> R:
        current = _CURRENT.get()
        if current is None:
            return function(connection, *args, **kwargs)
        current.undo()
        result = function(connection, *args, **kwargs)
        if not conditional or (result is not None and result is not False):
            current.decide(connection, result)
        return result

    run = writing(decide)

    def settled(database: Database, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result = run(database, *args, **kwargs)
        current = _CURRENT.get()
        if current is not None:
            current.settle()
        return result

    return functools.update_wrapper(settled, function)


_KEEP = Prepared(
    sa.insert(table).from_select(
        ["id", "answer", "created_at"],
        sa.select(
            sa.bindparam("its_id", type_=table.c.id.type),
            sa.bindparam("its_answer", type_=table.c.answer.type),
            utcnow(),
        ).where(sa.bindparam("asked_at", type_=table.c.created_at.type) > seconds_ago(LATEST)),
    )
)


def keep(connection: Connection, request: Request, answer: dict[str, Any]) -> None:
    """Write a request's row, WHERE there is none yet and it is not too late; the end of a transaction.

    Raises:
        AlreadyAnswered: there is one (primary key).
        TransportError: it is too late.
    """
    row = {
        "its_id": request.id,
        "its_answer": _sealed(request, answer),
        "asked_at": datetime.fromtimestamp(request.asked_at, UTC).replace(tzinfo=None),
    }
    writes = Together(connection)
    writes.execute(_KEEP, row, rows=1)
    try:
        in_time = writes.send(last=True)
    except oslo_db_exception.DBDuplicateEntry:
        raise AlreadyAnswered from None
    if not in_time:
        raise errors.TransportError(
            reason=f"the request was made more than {LATEST} s ago by the clock of who made it:"
            " see that the clocks of the API's and the database's hosts agree"
        )


@writing
def answer(connection: Connection, request: Request, answer: dict[str, Any]) -> None:
    """Store the answer to a request that changed nothing, or another one than was stored with what it did.

    Raises:
        AlreadyAnswered: another has answered it.
    """
    if not request.is_kept:
        keep(connection, request, answer)
        return
    mine = sa.update(table).where(table.c.id == request.id)
    connection.execute(mine.values(answer=_sealed(request, answer)))


def _sealed(request: Request, answer: dict[str, Any]) -> Any:
    return placed(table, {"answer": answer}, request)["answer"]


@reading
def find(connection: Connection, request_id: str) -> dict[str, Any] | None:
    """Return the answer that was stored for a request, if it was carried out."""
    row = connection.execute(sa.select(table).where(table.c.id == request_id)).one_or_none()
    stored: dict[str, Any] | None = None if row is None else Opened(table, row).answer
    return stored


@writing
def forget_old(connection: Connection) -> int:
    """Drop the requests that nobody can ask again; return how many."""
    gone = sa.delete(table).where(table.c.created_at < seconds_ago(KEPT))
    return int(connection.execute(gone).rowcount)
