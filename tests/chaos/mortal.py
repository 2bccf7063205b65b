# SPDX-License-Identifier: Apache-2.0
"""Processes that die, or stop for a while, at an instant a test names.

An instant is a *boundary*: before or after a statement or a commit reaches the
database, a hook of a plugin is called, the cloud carries out a request, a
message is sent.  ``Fate`` counts the boundaries that one process passes; at the
one it is told, the process dies: ``Death`` goes up through all of its code,
which is no more able to catch it than a real process is able to survive
``kill -9``, and its connection is closed with nothing committed.
"""

from __future__ import annotations

import functools
import itertools
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from oslo_db.sqlalchemy import engines

from heatconv.db.plumbing.session import Database
from heatconv.model import ids
from heatconv.model.definition import is_template
from heatconv.resources import short_id
from heatconv.resources.declared import implements
from heatconv.resources.registry import Registry, Types
from heatconv.resources.resource import Resource
from heatconv.resources.template_resource import TemplateResource
from heatconv.testing.gate import Gate


class Death(BaseException):
    """The process is no more; no ``except Exception`` holds it up."""


class Fate:
    """What boundaries a process has passed, and which is to be its last.

    ``pause`` is called there instead of dying, if the process is to stop and
    go on later.
    """

    def __init__(self, last: int | None = None, pause: Callable[[], None] | None = None) -> None:
        self.passed: list[str] = []
        self.dead = False
        self.in_transaction = False
        self._last = last
        self._pause = pause

    def at(self, boundary: str) -> None:
        """Pass a boundary, or die there."""
        if self.dead:
            raise Death(boundary)
        if self._pause is not None and self.in_transaction:
            return  # what others wait for is the database's to end, and it ends it
        self.passed.append(boundary)
        if len(self.passed) != self._last:
            return
        if self._pause is not None:
            self._pause()
            return
        self.dead = True
        raise Death(boundary)


class Boundaries:
    """The boundaries of the process that runs now, which is one at a time."""

    def __init__(self) -> None:
        self._now: Fate | None = None

    @contextmanager
    def of(self, fate: Fate) -> Iterator[None]:
        """Let what runs inside be a process's."""
        before, self._now = self._now, fate
        try:
            yield
        finally:
            self._now = before

    @contextmanager
    def of_nobody(self) -> Iterator[None]:
        """Let what runs inside be no process's."""
        before, self._now = self._now, None
        try:
            yield
        finally:
            self._now = before

    def at(self, boundary: str) -> None:
        """Let the process that runs pass a boundary."""
        if self._now is not None:
            self._now.at(boundary)

    # -- where they are --------------------------------------------------------------------

    def around(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function with a boundary before it and one after it."""

        @functools.wraps(function)
        def stepped(*args: Any, **kwargs: Any) -> Any:
            self.at(f"before {what}")
            result = function(*args, **kwargs)
            self.at(f"after {what}")
            return result

        return stepped

    def of_database(self, database: Database) -> Database:
        """Put boundaries around each statement and each commit of a database; return it."""
        engine = _hurried(database.engine)

        def before(_connection: Any, cursor: Any, statement: str, *_rest: Any) -> None:
            self._at(f"before {_short(statement)}", cursor.connection)
            self._in_transaction(True)

        def after(_connection: Any, cursor: Any, statement: str, *_rest: Any) -> None:
            self._at(f"after {_short(statement)}", cursor.connection)

        sa.event.listen(engine, "before_cursor_execute", before)
        sa.event.listen(engine, "after_cursor_execute", after)
        commit, roll_back = engine.dialect.do_commit, engine.dialect.do_rollback

        def do_commit(connection: Any) -> None:
            self._at("before COMMIT", connection.dbapi_connection)
            commit(connection)
            self._in_transaction(False)
            self._at("after COMMIT", connection.dbapi_connection)

        def do_rollback(connection: Any) -> None:
            # No boundary: whether the database is told or finds the line cut comes to the same.
            roll_back(connection)
            self._in_transaction(False)

        vars(engine.dialect).update(do_commit=do_commit, do_rollback=do_rollback)
        return database

    def _at(self, boundary: str, connection: Any) -> None:
        """Pass a boundary; whoever dies there has its connection to the database cut."""
        try:
            self.at(boundary)
        except Death:
            connection.rollback()  # SQLite keeps its locks while a statement is not read to the end
            connection.close()
            raise

    def _in_transaction(self, is_in: bool) -> None:
        if self._now is not None:
            self._now.in_transaction = is_in

    def of_types(self, registry: Registry) -> Registry:
        """Return resource types with boundaries around each hook that a worker calls."""
        return _Types({name: self._stepped(registry.get(name)) for name in registry.names()}, self._stepped)

    def _stepped(self, plain: type[Resource]) -> type[Resource]:
        hooks = [hook for hook in _HOOKS if hook in _OF_THE_BASE or implements(plain, hook)]
        members = {hook: self.around(hook, getattr(plain, hook)) for hook in hooks}
        return type(plain.__name__, (plain,), members)

    def gate(self, watch: Callable[[int], None]) -> Gate:
        """Return a gate for the cloud with boundaries around each mutating request.

        ``watch`` is told how many were carried out, after each.
        """
        return _Gate(self, watch)


class _Types(Registry):
    """Types, those that are templates among them, as ``stepped`` makes them."""

    def __init__(self, types: Types, stepped: Callable[[type[Resource]], type[Resource]]) -> None:
        super().__init__(types)
        self._template = stepped(TemplateResource)

    def get(self, type_name: str) -> type[Resource]:
        return self._template if is_template(type_name) else super().get(type_name)


_OF_THE_BASE = ("resource_id_set", "data_set", "metadata_set")
_HOOKS = (
    *_OF_THE_BASE,
    "handle_create",
    "check_create_complete",
    "find_existing",
    "needs_replace_failed",
    "handle_update",
    "check_update_complete",
    "handle_delete",
    "check_delete_complete",
    "handle_suspend",
    "check_suspend_complete",
    "handle_resume",
    "check_resume_complete",
    "handle_check",
    "handle_snapshot",
    "check_snapshot_complete",
    "handle_adopt",
    "check_adopt_complete",
    "_resolve_attribute",
)


class _Gate(Gate):
    def __init__(self, boundaries: Boundaries, watch: Callable[[int], None]) -> None:
        super().__init__()
        self._boundaries = boundaries
        self._watch = watch

    @contextmanager
    def passage(self) -> Iterator[None]:
        self._boundaries.at("before a request to the cloud")
        try:
            with super().passage():
                yield
        finally:
            self._watch(self.done)
        self._boundaries.at("after a request to the cloud")


@contextmanager
def repeatable_ids() -> Iterator[Callable[[int], None]]:
    """Number the ids, so that what sorts by them comes in the same order each time.

    The yielded function says which number was the last.
    """
    numbers = itertools.count(1)

    def go_on_after(last: int) -> None:
        nonlocal numbers
        numbers = itertools.count(last + 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "_CLOCK", SimpleNamespace(next=lambda: (1, next(numbers))))
        names = SimpleNamespace(UUID=uuid.UUID, uuid4=lambda: uuid.UUID(int=next(numbers)))
        patch.setattr(short_id, "uuid", names)
        yield go_on_after


def _hurried(engine: sa.Engine) -> sa.Engine:
    """Make an engine fit for thousands of short runs on one thread."""
    if engine.dialect.name == "sqlite":
        # This lets other threads go first, which there are none of, and so gives away the processor.
        sa.event.remove(engine, "checkin", engines._thread_yield)
        old = engine.pool  # which connects anew for each transaction
        engine.pool = sa.QueuePool(old._creator, dialect=engine.dialect, _dispatch=old.dispatch)
    return engine


@functools.cache
def _short(statement: str) -> str:
    """Return a statement's verb and table."""
    words = re.match(r"\W*(\w+)(?:.*?\b(?:FROM|INTO|UPDATE)\s+(\w+))?", statement, re.DOTALL)
    if words is None:
        return statement
    verb, table = words.groups()
    if verb == "UPDATE":
        table = statement.split()[1]
    return f"{verb} {table}" if table else verb
