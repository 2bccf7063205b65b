# SPDX-License-Identifier: Apache-2.0
"""Reality: a fake cloud that keeps named objects and watches what is done to them.

It knows nothing of stacks: an object's ``owner`` is a tag of its creator's
choice.  Like a real cloud it takes its time (an object is in BUILD before it
is ACTIVE, in DELETING before it is gone), fails when told to, and stands up
for itself: an object that another one uses cannot be deleted, and what is not
there or not ready cannot be used.  So a wrong order of operations is an error
in the world and not just an entry in a table.

``properties`` means something to the cloud under one key: ``uses``, the ids of
the objects that this one refers to.  Everything else is only kept.
"""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from heatconv.testing.failures import FailureRule, Failures, Outcome, Refused, Unreachable
from heatconv.testing.gate import Gate, GateClosed

Json = dict[str, Any]


class ObjectStatus(StrEnum):
    """The life of an object; after DELETING it is not found any more."""

    BUILD = "BUILD"
    ACTIVE = "ACTIVE"
    UPDATING = "UPDATING"
    DELETING = "DELETING"
    ERROR = "ERROR"


USABLE = frozenset({ObjectStatus.ACTIVE, ObjectStatus.UPDATING})
IN_TRANSITION = frozenset({ObjectStatus.BUILD, ObjectStatus.UPDATING, ObjectStatus.DELETING})


@dataclass(kw_only=True)
class CloudObject:
    """Something that exists."""

    id: str
    name: str
    kind: str
    owner: str
    properties: Json
    status: ObjectStatus
    created_at: float
    #: the rest of a transition: the instant of its end, or the looks still to be taken
    due: float = 0.0
    doomed: bool = False  #: will end in ERROR

    def to_json(self) -> Json:
        """Return the object as the cloud shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "owner": self.owner,
            "properties": dict(self.properties),
            "status": str(self.status),
            "created_at": self.created_at,
        }

    @property
    def uses(self) -> Sequence[str]:
        """The ids of the objects this one refers to."""
        return self.properties.get("uses") or ()


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """One operation that was asked of the cloud, in the order of their answers."""

    sequence: int
    op: str
    object_id: str | None
    name: str
    kind: str
    owner: str
    result: int  #: the HTTP status
    properties: Json | None = None
    answered: bool = True  #: False when the connection was cut before the answer

    @property
    def succeeded(self) -> bool:
        """Whether the operation was carried out."""
        return self.result < 400


class CloudApi(Protocol):
    """What a user of the cloud can ask of it, in process or over HTTP.

    Every operation raises ``Refused`` or ``Unreachable``.
    """

    def create(self, name: str, kind: str, owner: str, properties: Json, wait: float | None = None) -> Json:
        """Start to make an object; ``wait`` is how long it takes to become ACTIVE."""

    def show(self, object_id: str) -> Json:
        """Return an object."""

    def find(self, name: str, kind: str | None = None) -> list[Json]:
        """Return the objects of a name; names need not be unique."""

    def show_many(self, object_ids: Sequence[str]) -> list[Json]:
        """Return the objects of some ids that are there, in one operation."""

    def update(self, object_id: str, properties: Json, wait: float | None = None) -> Json:
        """Start to change some properties of an object."""

    def delete(self, object_id: str, wait: float | None = None) -> None:
        """Start to delete an object; harmless when it is being deleted already."""

    def owned(self, owner: str = "") -> list[Json]:
        """Return every object whose owner tag starts with ``owner``."""


@dataclass
class _Ask:
    """An operation under way, as far as it is known."""

    op: str
    kind: str
    name: str
    owner: str
    object_id: str | None = None
    properties: Json | None = None
    rule: FailureRule | None = None


class Cloud:
    """The cloud itself, implementing ``CloudApi``.

    Transitions take seconds by ``clock``.  Without a clock they take that many
    *looks* (``show``) at the object: time then passes only for those who ask,
    which makes every run repeatable.

    Concurrency: every method may be called from any thread.  Each operation is
    atomic; mutating ones wait at the ``gate`` first.
    """

    def __init__(
        self,
        clock: Callable[[], float] | None = time.monotonic,
        publish: Callable[[str, Json], None] = lambda _event_type, _payload: None,
    ) -> None:
        """Take the clock it goes by, and a function that publishes whatever happens to its objects.

        ``publish`` gets the type of an event and its payload; it returns at once.
        """
        self._clock = clock
        self._publish = publish
        self._lock = threading.Lock()
        self.gate = Gate()
        self.failures = Failures()
        self.latency: dict[str, float] = {}  #: how long a transition takes, by operation
        self._objects: dict[str, CloudObject] = {}
        self._audit: list[AuditEntry] = []

    # -- what users do -------------------------------------------------------------

    def create(self, name: str, kind: str, owner: str, properties: Json, wait: float | None = None) -> Json:
        """Start to make an object.

        Raises:
            Refused: 409, ``uses`` names an object that is not there or not ready.
        """
        with self._mutation(_Ask("create", kind, name, owner, None, properties)) as ask:
            self._check_usable(properties)
            made = CloudObject(
                id=str(uuid.uuid4()),
                name=name,
                kind=kind,
                owner=owner,
                properties=dict(properties),
                status=ObjectStatus.BUILD,
                created_at=time.time(),
                doomed=ask.rule is not None and ask.rule.outcome is Outcome.BREAK,
            )
            self._begin(made, ObjectStatus.BUILD, ask, wait)
            self._objects[made.id] = made
            ask.object_id = made.id
            return made.to_json()

    def show(self, object_id: str) -> Json:
        """Return an object.

        Raises:
            Refused: 404, it is not there.
        """
        with self._observation("show", object_id):
            return self._look(object_id, counts=True).to_json()

    def find(self, name: str, kind: str | None = None) -> list[Json]:
        """Return the objects of a name."""
        with self._observation("find", None, name=name, kind=kind or "*"):
            return [o.to_json() for o in self._live() if o.name == name and kind in (None, o.kind)]

    def show_many(self, object_ids: Sequence[str]) -> list[Json]:
        """Return the objects of some ids that are there."""
        wanted = set(object_ids)
        with self._observation("show_many", None, kind="*"):
            return [found.to_json() for found in self._live() if found.id in wanted]

    def update(self, object_id: str, properties: Json, wait: float | None = None) -> Json:
        """Start to change some properties of an object.

        Raises:
            Refused: 404, it is not there; 409, it is being built or deleted, or
                ``uses`` names an object that is not there or not ready, or that
                itself uses this one.
        """
        with self._mutation(self._ask("update", object_id, properties)) as ask:
            found = self._look(object_id)
            if found.status in (ObjectStatus.BUILD, ObjectStatus.DELETING):
                raise Refused(409, f"{found.name} is in {found.status}")
            self._check_usable(properties, object_id)
            found.properties.update(properties)
            found.doomed = ask.rule is not None and ask.rule.outcome is Outcome.BREAK
            self._begin(found, ObjectStatus.UPDATING, ask, wait)
            return found.to_json()

    def delete(self, object_id: str, wait: float | None = None) -> None:
        """Start to delete an object.

        Raises:
            Refused: 404, it is not there; 409, another object uses it.
        """
        with self._mutation(self._ask("delete", object_id)) as ask:
            found = self._look(object_id)
            users = [o.name for o in self._live() if object_id in o.uses]
            if users:
                raise Refused(409, f"{found.name} is in use by {', '.join(users)}")
            if found.status is not ObjectStatus.DELETING:
                found.doomed = ask.rule is not None and ask.rule.outcome is Outcome.BREAK
                self._begin(found, ObjectStatus.DELETING, ask, wait)

    def owned(self, owner: str = "") -> list[Json]:
        """Return every object whose owner tag starts with ``owner``; not audited."""
        with self._lock:
            return [o.to_json() for o in self._live() if o.owner.startswith(owner)]

    # -- what tests do -------------------------------------------------------------

    def fail(self, rule: FailureRule) -> None:
        """Put a failure rule in force."""
        self.failures.add(rule)

    def stop_failing(self) -> None:
        """Drop every failure rule."""
        self.failures.clear()

    def audit(self, since: int = 0) -> Sequence[AuditEntry]:
        """Return the operations so far, from sequence number ``since`` on."""
        with self._lock:
            return self._audit[since:]

    def vanish(self, object_id: str) -> None:
        """Remove an object behind everybody's back, as a careless hand would."""
        with self._lock:
            if found := self._objects.pop(object_id, None):
                self._say("object.delete.end", found)

    def meddle(self, object_id: str, properties: Mapping[str, Any]) -> None:
        """Change an object behind everybody's back."""
        with self._lock:
            found = self._objects[object_id]
            found.properties.update(properties)
            self._say("object.update.end", found)

    def spoil(self, object_id: str) -> None:
        """Let an object fail behind everybody's back: it is in ERROR from now on."""
        with self._lock:
            found = self._objects[object_id]
            found.status = ObjectStatus.ERROR
            self._say("object.error", found)

    def reset(self, gate: Gate | None = None) -> None:
        """Forget everything; operations still held at the gate are turned away."""
        self.gate.close()
        with self._lock:
            self.gate = gate or Gate()
            self.failures.clear()
            self.latency.clear()
            self._objects.clear()
            self._audit.clear()

    # -- how an operation goes -------------------------------------------------------

    def _ask(self, op: str, object_id: str, properties: Json | None = None) -> _Ask:
        with self._lock:
            known = self._objects.get(object_id)
            if known is None:
                return _Ask(op, "", "", "", object_id, properties)
            return _Ask(op, known.kind, known.name, known.owner, object_id, properties)

    @contextmanager
    def _mutation(self, ask: _Ask) -> Iterator[_Ask]:
        """Bring an operation past the gate and the failure rules into the lock and the audit log."""
        try:
            with self.gate.passage():
                ask.rule = self.failures.strike(ask.op, ask.kind, ask.name, ask.owner)
                with self._lock, self._recorded(ask):
                    if ask.rule is not None and ask.rule.outcome is Outcome.REFUSE:
                        raise Refused(ask.rule.status, "told to fail", ask.rule.retry_after)
                    yield ask
        except GateClosed:
            raise Refused(503, "the cloud was reset") from None
        if ask.rule is not None and ask.rule.outcome is Outcome.CUT:
            raise Unreachable(f"the connection broke during {ask.op} of {ask.name}")

    @contextmanager
    def _observation(
        self, op: str, object_id: str | None, *, name: str = "", kind: str = ""
    ) -> Iterator[None]:
        ask = self._ask(op, object_id) if object_id else _Ask(op, kind, name, "")
        rule = self.failures.strike(ask.op, ask.kind, ask.name, ask.owner)
        with self._lock, self._recorded(ask):
            if rule is not None:
                raise Refused(rule.status, "told to fail", rule.retry_after)
            yield

    @contextmanager
    def _recorded(self, ask: _Ask) -> Iterator[None]:
        result = 200
        try:
            yield
        except Refused as refusal:
            result = refusal.status
            raise
        finally:
            answered = ask.rule is None or ask.rule.outcome is not Outcome.CUT
            self._audit.append(
                AuditEntry(
                    sequence=len(self._audit),
                    op=ask.op,
                    object_id=ask.object_id,
                    name=ask.name,
                    kind=ask.kind,
                    owner=ask.owner,
                    result=result,
                    properties=ask.properties,
                    answered=answered or result >= 400,
                )
            )

    # -- how time passes; the lock is held -----------------------------------------------

    def _begin(self, what: CloudObject, status: ObjectStatus, ask: _Ask, wait: float | None) -> None:
        what.status = status
        takes = self.latency.get(ask.op, 0) if wait is None else wait
        if ask.rule is not None and ask.rule.outcome is Outcome.HANG:
            takes = math.inf
        what.due = (self._clock() if self._clock else 0) + takes
        self._advance(what)

    def _advance(self, what: CloudObject) -> None:
        if what.status not in IN_TRANSITION or what.due > (self._clock() if self._clock else 0):
            return
        if what.doomed:
            what.status = ObjectStatus.ERROR
            self._say("object.error", what)
        elif what.status is ObjectStatus.DELETING:
            del self._objects[what.id]
            self._say("object.delete.end", what)
        else:
            event_type = f"object.{'create' if what.status is ObjectStatus.BUILD else 'update'}.end"
            what.status = ObjectStatus.ACTIVE
            self._say(event_type, what)

    def _say(self, event_type: str, what: CloudObject) -> None:
        self._publish(event_type, {"object_id": what.id, "name": what.name, "kind": what.kind})

    def _look(self, object_id: str, *, counts: bool = False) -> CloudObject:
        found = self._objects.get(object_id)
        if found is not None:
            if counts and self._clock is None:
                found.due -= 1
            self._advance(found)
        if object_id not in self._objects:
            raise Refused(404, f"there is no object {object_id}")
        return self._objects[object_id]

    def _live(self) -> Iterator[CloudObject]:
        for known in tuple(self._objects.values()):
            self._advance(known)
            if known.id in self._objects:
                yield known

    def _check_usable(self, properties: Mapping[str, Any], user: str | None = None) -> None:
        reached = set()
        coming = list(properties.get("uses") or ())
        for used in coming:
            found = self._objects.get(used)
            if found is None or found.status not in USABLE:
                raise Refused(409, f"object {used} is not there, or not ready to be used")
        while coming:
            reached.add(used := coming.pop())
            if (
                found := self._objects.get(used)
            ) is not None:  # an object it uses may have been deleted by hand
                coming += [more for more in found.uses if more not in reached]
        if user in reached:
            raise Refused(409, f"object {user} would use itself")


#: The cloud of this process, which ``memory:`` is the address of.
IN_PROCESS = Cloud(clock=None)
