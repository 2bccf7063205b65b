# SPDX-License-Identifier: Apache-2.0
"""What a fake cloud can be told to do wrong, and the errors it answers with."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any


class CloudError(Exception):
    """The cloud did not do what it was asked."""


class Refused(CloudError):
    """The cloud answered with an HTTP error status."""

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.retry_after = retry_after


class Unreachable(CloudError):
    """No answer came; whether the operation was carried out is not known."""


class Outcome(StrEnum):
    """How an operation fails."""

    REFUSE = "refuse"  #: answered with the rule's status, nothing done
    CUT = "cut"  #: carried out, then the connection breaks: nobody is told
    BREAK = "break"  #: accepted, but the object ends up in ERROR
    HANG = "hang"  #: accepted, and never done


@dataclass
class FailureRule:
    """Fail the next ``times`` operations that match (all of them if None).

    ``kind``, ``name`` and ``owner`` are shell patterns.
    """

    op: str = "*"
    kind: str = "*"
    name: str = "*"
    owner: str = "*"
    status: int = 500
    retry_after: float | None = None
    outcome: Outcome = Outcome.REFUSE
    times: int | None = 1

    def __post_init__(self) -> None:
        self.outcome = Outcome(self.outcome)

    def to_json(self) -> dict[str, Any]:
        """Return the rule as plain JSON data."""
        return asdict(self)

    def matches(self, op: str, kind: str, name: str, owner: str) -> bool:
        """Tell whether the rule is about such an operation."""
        pairs = ((op, self.op), (kind, self.kind), (name, self.name), (owner, self.owner))
        return all(fnmatchcase(value, pattern) for value, pattern in pairs)


class Failures:
    """The rules in force.

    Concurrency: every method may be called from any thread; a rule for ``n``
    times strikes exactly ``n`` times.
    """

    def __init__(self) -> None:
        self._rules: list[FailureRule] = []
        self._lock = threading.Lock()

    def add(self, rule: FailureRule) -> None:
        """Put a rule in force, behind those there are."""
        with self._lock:
            self._rules.append(rule)

    def clear(self) -> None:
        """Fail nothing any more."""
        with self._lock:
            self._rules.clear()

    def strike(self, op: str, kind: str, name: str, owner: str) -> FailureRule | None:
        """Return the first rule that matches, one use of it spent."""
        with self._lock:
            for rule in self._rules:
                if rule.matches(op, kind, name, owner):
                    if rule.times is not None:
                        rule.times -= 1
                        if rule.times <= 0:
                            self._rules.remove(rule)
                    return rule
            return None
