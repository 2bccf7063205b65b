# SPDX-License-Identifier: Apache-2.0
"""What there is in the world with a name of ours, and belongs to nothing: it is shown, and left alone.

After a restore these are the things that were made after the dump by what the dump does not know.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

from heatconv import errors
from heatconv.db import belonging
from heatconv.db.plumbing.session import Database
from heatconv.engine.plugin_access import driver_for_asking
from heatconv.model.definition import Definition
from heatconv.model.ids import new_id
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.secrets import sentence
from heatconv.model.states import Action, Phase, Status
from heatconv.resources.declared import implements
from heatconv.resources.naming import short_id_in
from heatconv.resources.registry import Registry
from heatconv.resources.short_id import get_id

LOG = logging.getLogger(__name__)


class Orphan(NamedTuple):
    """A thing that no stack has."""

    project_id: str  #: of whose user it was seen
    type: str
    physical_id: str
    name: str


def find(database: Database, registry: Registry, project_id: str | None = None) -> list[Orphan]:
    """Return the things in the world that have a name such as ours and that no row stands for.

    They are seen as by the newest stack of each project, or of one.  What a project without a stack has
    is seen if the project is named, and there is one login for all.  A type that cannot be listed is
    logged, and left out.
    """
    seen: dict[str, Orphan] = {}
    lookouts = belonging.newest_stacks(database, project_id)
    if project_id is not None and not lookouts:
        lookouts = [_none(project_id)]
    for stack in lookouts:
        for type_name in sorted(registry.names()):
            if implements(registry.get(type_name), "find_named"):
                seen |= {each.physical_id: each for each in _seen(database, registry, stack, type_name)}
    unknown: dict[str, dict[str, Orphan]] = {}  # by the short id in the name; twins have the same
    for orphan in seen.values():
        unknown.setdefault(short_id_in(orphan.name) or "", {})[orphan.physical_id] = orphan
    unknown.pop("", None)
    for row_id, physical_id in belonging.known_things(database):
        short_id = get_id(row_id)
        if short_id in unknown and physical_id is None:
            del unknown[short_id]  # it is looked for when its resource is made
        elif short_id in unknown:
            unknown[short_id].pop(str(physical_id), None)
    return sorted(orphan for some in unknown.values() for orphan in some.values())


def _none(project_id: str) -> Stack:
    """Return a stack that is none, of a project."""
    return Stack(
        id=new_id(),
        name="orphans",
        project_id=project_id,
        raw_template_id=0,
        current_traversal="",
        action=Action.CREATE,
        status=Status.COMPLETE,
        phase=Phase.DONE,
    )


def _seen(database: Database, registry: Registry, stack: Stack, type_name: str) -> Iterator[Orphan]:
    definition = Definition(name="orphans", type=type_name)
    nothing = ResourceRow(id=new_id(), stack_id=stack.id, name="orphans", type=type_name, version=0)
    try:
        driver = driver_for_asking(database, registry, stack, nothing, definition)
        for physical_id, name in driver.plugin.find_named():
            yield Orphan(stack.project_id, type_name, physical_id, name)
    except errors.NotFound:
        return
    except Exception as error:  # noqa: BLE001 - a plugin or a service may raise anything
        said = sentence(f"{type(error).__name__}: {error}")
        LOG.warning("project %s: %s cannot be listed: %s", stack.project_id, type_name, said)
