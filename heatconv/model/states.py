# SPDX-License-Identifier: Apache-2.0
"""The states that stacks, resources and sync points go through."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """What is being done, or was done last, to a stack or a resource."""

    INIT = "INIT"  #: known, nothing done to it yet (resources only)
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    ROLLBACK = "ROLLBACK"  #: stacks only; their resources are created, updated, deleted
    CHECK = "CHECK"
    SUSPEND = "SUSPEND"
    RESUME = "RESUME"
    ADOPT = "ADOPT"
    SNAPSHOT = "SNAPSHOT"
    RESTORE = "RESTORE"
    SIGNAL = "SIGNAL"  #: of events only
    OBSERVE = "OBSERVE"  #: of events only: what was found different from what was made, or as made again


#: What is done to every resource of a stack as it is, without changing what is wanted.
VISITS = frozenset({Action.SUSPEND, Action.RESUME, Action.CHECK, Action.SNAPSHOT})


#: What lets a resource come to be.
MAKING = frozenset({Action.CREATE, Action.ADOPT})


def cancelled(action: Action) -> str:
    """Return the reason of a stack whose action was stopped by a user."""
    return f"Stack {action} cancelled"


class Status(StrEnum):
    """How far the action is."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"


class Phase(StrEnum):
    """Which part of its traversal a stack IN_PROGRESS is in."""

    PREPARE = "PREPARE"  #: decided on, the graph is not there yet
    UPDATE = "UPDATE"  #: wanted resources are being made as wanted
    GC = "GC"  #: what is not wanted any more is being removed
    DONE = "DONE"  #: no traversal under way


class SyncState(StrEnum):
    """How far a node of a traversal is."""

    WAITING = "WAITING"  #: for inputs
    READY = "READY"  #: every input is there; some worker has it, or will
    DONE = "DONE"  #: converged, and its successors were told


class DeletionPolicy(StrEnum):
    """What becomes of the physical resource when its resource goes."""

    DELETE = "Delete"
    RETAIN = "Retain"
    SNAPSHOT = "Snapshot"
    ABANDON = "Abandon"  #: Retain, and so for what is in a nested stack; nothing that a template may say


#: The policies that a template may have.
WRITTEN_POLICIES = (DeletionPolicy.DELETE, DeletionPolicy.RETAIN, DeletionPolicy.SNAPSHOT)
