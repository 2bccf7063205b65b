# SPDX-License-Identifier: Apache-2.0
"""What there is to do with a row that stands for something already, now that something is wanted of it.

Nothing is done here, so that who plans finds what a worker would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heatconv.model.definition import Definition
from heatconv.model.foreseen import Deed
from heatconv.model.records import ResourceRow
from heatconv.resources.comparing import Update
from heatconv.resources.driver import PluginDriver
from heatconv.resources.exception import UpdateReplace
from heatconv.resources.registry import Registry


@dataclass(frozen=True)
class Same:
    """It is as wanted."""


@dataclass(frozen=True)
class Differs:
    """An update makes it as wanted; its driver is the one to carry that out."""

    driver: PluginDriver
    update: Update


@dataclass(frozen=True)
class Another:
    """It takes another one in its place, for some reasons."""

    reasons: tuple[str, ...]


Found = Same | Differs | Another


def is_left(registry: Registry, row: ResourceRow, wanted: Definition) -> bool:
    """Tell whether a row that was made of the very definition that is wanted needs no comparison."""
    type_ = registry.get(wanted.implemented_by)
    return not (
        # What is inside it may be different.
        type_.changes_with_every_update
        or type_.gives_way
        or row.handover is not None
        or "pre-update" in wanted.hooks
    )


def is_update(
    registry: Registry, row: ResourceRow, wanted: Definition, driver_of: Callable[[Definition], PluginDriver]
) -> bool:
    """Tell whether a row is known to take an update that nothing keeps from being begun at once.

    Only types that ``compares_alone`` are compared.  Where that does not tell, or is an error, ``compare``
    does.

    Args:
        driver_of: makes drivers whose plugins can ask nobody; for the other arguments see ``compare``.
    """
    applied = row.applied
    if applied is None or applied.implemented_by != wanted.implemented_by or row.handover is not None:
        return False
    if "pre-update" in wanted.hooks or "update" in wanted.restricted_actions or not row.may(Deed.UPDATE):
        return False
    try:
        alone = registry.get(wanted.implemented_by).compares_alone
        return alone and isinstance(compare(registry, row, wanted, driver_of), Differs)
    except Exception:  # noqa: BLE001 - a plugin may raise anything, and does so again for who sees to it
        return False


def compare(
    registry: Registry, row: ResourceRow, wanted: Definition, driver_of: Callable[[Definition], PluginDriver]
) -> Found:
    """Compare a row with the resolved definition that is wanted of it.

    Args:
        registry: has the types.
        row: it has been made once.
        wanted: the definition.
        driver_of: makes what drives the row's plugin as a definition has it.

    Raises:
        Exception: whatever a plugin raises; NotSupported of a property that may not change at all.
    """
    if row.applied is None:
        return Another(("nobody knows what it was made of",))
    if not registry.may_become(row.applied, wanted):
        return Another((f"a {row.applied.implemented_by} cannot become a {wanted.implemented_by}",))
    driver = driver_of(row.applied)
    try:
        update = driver.plan_update(wanted)
    except UpdateReplace as another:
        return Another(another.reasons)
    return Same() if update is None else Differs(driver, update)
