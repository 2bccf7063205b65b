# SPDX-License-Identifier: Apache-2.0
"""By which policy a row is deleted: that of the newest template that names its resource.

The row keeps it (``Resource.deletion_policy``), for that template may be newer than
the definition the row was made of, or than a deletion that is under way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heatconv.model.definition import Definition
from heatconv.model.plan import Target
from heatconv.model.records import Attempt, Extant, ResourceRow, Stack, changed
from heatconv.model.states import Action, DeletionPolicy

#: The policies by which the physical resource stays.
LEAVING = frozenset({DeletionPolicy.RETAIN, DeletionPolicy.ABANDON})


def to_be_deleted(stack: Stack, row: ResourceRow, definition: Definition) -> Definition:
    """Return a definition with the policy that counts when its row is deleted now."""
    policy = _policy(stack, row, definition)
    return definition if policy is definition.deletion_policy else definition.changed(deletion_policy=policy)


def given_up(stack: Stack, row: ResourceRow) -> Attempt | None:
    """Return what takes the place of a row's deletion under way, if that is not wanted any more.

    What is left of the physical resource is to stay then: nobody waits for its
    deletion, or asks for it again.
    """
    under_way = row.progress
    if under_way is None or row.action is not Action.DELETE or under_way.action is not Action.DELETE:
        return None
    if under_way.definition.deletion_policy in LEAVING:
        return None
    definition = to_be_deleted(stack, row, under_way.definition)
    if definition.deletion_policy not in LEAVING:
        return None
    left: Attempt = changed(under_way, definition=definition, token=None, started=False, faults=0)
    return left


def newer_policies(
    targets: Mapping[str, Target],
    rows: Iterable[Extant],
    chosen: Mapping[str, str],
    dirty: frozenset[str],
) -> Iterable[tuple[str, DeletionPolicy]]:
    """Yield (row, policy) where a template that names a resource says anew what is to become of a row.

    Those that are dirty are written anyway; one that is clean and was never given any
    goes by its definition, which is what the template wants.
    """
    for row in rows:
        target = targets.get(row.name)
        if target is None or row.deletion_policy == target.definition.deletion_policy:
            continue
        goes_on = chosen.get(row.name) == row.id
        if not goes_on or (row.name not in dirty and row.deletion_policy is not None):
            yield row.id, target.definition.deletion_policy


def _policy(stack: Stack, row: ResourceRow, definition: Definition) -> DeletionPolicy:
    adopted_in_vain = row.action is Action.ADOPT and stack.action is Action.ROLLBACK
    if stack.abandoned or adopted_in_vain:
        return DeletionPolicy.ABANDON
    return row.deletion_policy or definition.deletion_policy
