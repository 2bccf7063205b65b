# SPDX-License-Identifier: Apache-2.0
"""What a worker will do with one resource, found by the worker's own decision on what is known.

Where not everything is known the decision is made twice: as if what is unknown turned out to be
what is there already, and as if it turned out to be anything else.  If both come to the same, that is
certain; else it is possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from heatconv import errors
from heatconv.model.definition import Definition
from heatconv.model.records import Attempt, Job, ResourceRow
from heatconv.model.secrets import sentence
from heatconv.model.states import Action, Status
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Unchanged
from heatconv.model.unknown import contains_unknown, hangs_of, may_be
from heatconv.resources.driver import PluginDriver
from heatconv.resources.registry import Registry
from heatconv.worker import comparing
from heatconv.worker.decide import decide

DriverOf = Callable[[Definition], PluginDriver]  #: of the row that is looked at, as a definition has it


class Extent(IntEnum):
    """How much is done to what is there."""

    NOTHING = 0
    UPDATE = 1
    REPLACE = 2


@dataclass(frozen=True, kw_only=True)
class Made:
    """It will be made: there is nothing of it yet."""

    wanted: Definition
    adopted: bool = False


@dataclass(frozen=True, kw_only=True)
class Kept:
    """It is there, and between so much and so much will be done to it."""

    wanted: Definition
    least: Extent
    most: Extent
    update: comparing.Differs | None = None  #: the update at most, if that is one
    reasons: tuple[str, ...] = ()  #: why it is replaced, if it is
    problem: str | None = None  #: why it will fail


@dataclass(frozen=True)
class UnderWay:
    """Something is being done to it; what comes after that cannot be said before."""

    action: Action


@dataclass(frozen=True)
class Looked:
    """It is looked at, and goes on as it is found."""


@dataclass(frozen=True)
class Deleted:
    """It goes, by the policy of the definition."""

    definition: Definition


@dataclass(frozen=True)
class Failing:
    """Nothing can even be tried."""

    reason: str


@dataclass(frozen=True)
class Passed:
    """There is nothing to do."""


Foresight = Made | Kept | UnderWay | Looked | Deleted | Failing | Passed


def foresee(registry: Registry, job: Job, driver_of: DriverOf) -> Foresight:
    """Return what a worker will do with the row of a job."""
    match decide(job):
        case Skip() | Remove():
            return Passed()
        case Fail(reason):
            return Failing(sentence(reason, job.secrets))
        case Start(attempt):
            return _begun(attempt)
        case Resume(attempt):
            going = attempt.action is Action.DELETE
            return Deleted(attempt.definition) if going else UnderWay(attempt.action)
        case Replace(attempt):
            gone = ("it is being deleted, or that failed",)
            return Kept(wanted=attempt.definition, least=Extent.REPLACE, most=Extent.REPLACE, reasons=gone)
        case Unchanged(wanted) | Compare(wanted):
            return _compared(registry, job.row, wanted, driver_of)


def _begun(attempt: Attempt) -> Foresight:
    match attempt.action:
        case Action.CREATE | Action.ADOPT:
            return Made(wanted=attempt.definition, adopted=attempt.action is Action.ADOPT)
        case Action.DELETE:
            return Deleted(attempt.definition)
        case _:
            return Looked()


def _compared(registry: Registry, row: ResourceRow, wanted: Definition, driver_of: DriverOf) -> Kept:
    if not _is_unsure(wanted):
        return _as_known(registry, row, wanted, driver_of)
    least = _as_known(registry, row, _as_made(wanted, row.applied), driver_of)
    if least.most is Extent.REPLACE or least.problem is not None:
        return replace(least, wanted=wanted)
    # What can be nothing that is there is a change, whichever value it turns out to be.
    differs = row.applied is not None and not _may_be_as_made(wanted, row.applied)
    at_least = max(least.least, Extent.UPDATE) if differs else least.least
    try:
        found = _found(registry, row, wanted, driver_of)
    except Exception:  # noqa: BLE001 - a plugin may raise anything of a value that it does not know
        anything = ("its type cannot say before the values are known",)
        return Kept(wanted=wanted, least=at_least, most=Extent.REPLACE, reasons=anything)
    most = _extent(found)
    return Kept(
        wanted=wanted,
        least=min(at_least, most),
        most=most,
        update=found if isinstance(found, comparing.Differs) else None,
        reasons=found.reasons if isinstance(found, comparing.Another) else (),
    )


def _as_known(registry: Registry, row: ResourceRow, wanted: Definition, driver_of: DriverOf) -> Kept:
    """Return what comes of a definition of which everything is known."""
    try:
        found = _found(registry, row, wanted, driver_of)
    except errors.StorageError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        said = sentence(str(error) or type(error).__name__, row.secrets.union(wanted.secrets))
        return Kept(wanted=wanted, least=Extent.UPDATE, most=Extent.UPDATE, problem=said)
    extent = _extent(found)
    return Kept(
        wanted=wanted,
        least=extent,
        most=extent,
        update=found if isinstance(found, comparing.Differs) else None,
        reasons=found.reasons if isinstance(found, comparing.Another) else (),
    )


def _found(registry: Registry, row: ResourceRow, wanted: Definition, driver_of: DriverOf) -> comparing.Found:
    as_made = row.status is Status.COMPLETE and row.applied == wanted
    if as_made and comparing.is_left(registry, row, wanted):
        return comparing.Same()
    return comparing.compare(registry, row, wanted, driver_of)


def _extent(found: comparing.Found) -> Extent:
    match found:
        case comparing.Same():
            return Extent.NOTHING
        case comparing.Differs():
            return Extent.UPDATE
        case comparing.Another():
            return Extent.REPLACE


def _is_unsure(definition: Definition) -> bool:
    return contains_unknown(_values(definition))


def hangs(definition: Definition) -> Any:
    """Return what the values of a definition hang on."""
    return hangs_of(_values(definition))


def _values(definition: Definition) -> list[Any]:
    return [definition.properties, definition.metadata, definition.update_policy]


def _as_made(wanted: Definition, applied: Definition | None) -> Definition:
    """Return a definition with what is unknown of it as it was made."""
    if applied is None:
        return wanted
    return wanted.changed(
        properties=_filled(wanted.properties, applied.properties),
        metadata=_filled(wanted.metadata, applied.metadata),
        update_policy=_filled(wanted.update_policy, applied.update_policy),
    )


def _filled(wanted: Any, made: Any) -> Any:
    """Return the entries of a map, with those that are not known as they were made."""
    if not isinstance(wanted, dict) or not isinstance(made, dict):
        return made if contains_unknown(wanted) else wanted
    known = {name: value for name, value in wanted.items() if not contains_unknown(value)}
    return known | {name: made[name] for name in wanted if name not in known and name in made}


def _may_be_as_made(wanted: Definition, made: Definition) -> bool:
    """Tell whether all that is not known of a definition may turn out as it was made."""
    pairs = zip(_values(wanted), _values(made), strict=True)
    return all(
        may_be(value, before.get(name))
        for after, before in pairs
        if isinstance(after, dict) and isinstance(before, dict)
        for name, value in after.items()
        if contains_unknown(value)
    )
