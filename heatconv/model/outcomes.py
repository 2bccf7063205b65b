# SPDX-License-Identifier: Apache-2.0
"""How a transaction of a check ended: unions to be matched, not flags."""

from __future__ import annotations

from dataclasses import dataclass

from heatconv.model.nodes import Node
from heatconv.model.records import Job
from heatconv.model.steps import Step


@dataclass(frozen=True)
class Claimed:
    """The row is locked for this worker, which takes the step."""

    job: Job
    step: Step


@dataclass(frozen=True)
class Busy:
    """A live daemon holds the row; when it ends it rings again for this node."""

    engine_id: str


@dataclass(frozen=True)
class Idle:
    """There is nothing to do for this message: superseded, not ready yet, or done already."""

    why: str


Claim = Claimed | Busy | Idle


@dataclass(frozen=True)
class Propagated:
    """The result was recorded and the successors told; ``ready`` have all they wait for.

    So have those of ``following``, which were claimed in the same transaction.
    """

    ready: tuple[Node, ...] = ()
    following: tuple[Claimed, ...] = ()


@dataclass(frozen=True)
class Superseded:
    """The result was recorded, but the traversal it was made for is gone."""


@dataclass(frozen=True)
class Fenced:
    """The lock was broken: another daemon acts on the row now, and nothing was written."""


Finish = Propagated | Superseded | Fenced


@dataclass(frozen=True)
class Owner:
    """The row that a stack which has ended belongs to, and the worker that holds it."""

    resource_id: str
    engine_id: str


@dataclass(frozen=True)
class Half:
    """Half of a traversal is done, and perhaps all of it: then a nested stack's owner is to be told."""

    ready: tuple[Node, ...] = ()
    owner: Owner | None = None


@dataclass(frozen=True)
class StackFailed:
    """The failure was recorded and ended the stack's traversal."""

    roll_back: bool
    owner: Owner | None = None


Failure = StackFailed | Superseded | Fenced
