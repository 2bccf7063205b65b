# SPDX-License-Identifier: Apache-2.0
"""What a service makes late: after whoever asked for it is dead, or has lost the line.

That nobody heard the answer to a create says nothing of what becomes of it: its service
may be at it still when what it makes is looked for in vain.  Then there are two in the
end, or there is one after its deletion.  An attempt knows how often it has to look yet
(``Attempt.unheard``): a create removes the others, and a deletion is done when for some
time nothing has come.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from heatconv.model.records import Attempt, ResourceRow, changed
from heatconv.model.secrets import account
from heatconv.model.states import Action, DeletionPolicy
from heatconv.resources.driver import DeleteKind, PluginDriver
from heatconv.resources.facts import Unkept
from heatconv.resources.resource import PollDelay, Resource

LOG = logging.getLogger(__name__)

LOOKS = 6  #: at what may come, each after twice the time of the one before: half a minute in all
FIRST = 0.5  #: seconds until the first of them

_GOES = (DeleteKind.DELETE, DeleteKind.SNAPSHOT)


def looks_for(row: ResourceRow) -> int:
    """Return how often a deletion has to look for what a create of its row may make yet."""
    attempt = row.progress
    if attempt is None or attempt.action is not Action.CREATE:
        return 0
    unknown = row.physical_id is None and not attempt.started
    return LOOKS if unknown else attempt.unheard


def pause(left: int) -> float:
    """Return the seconds until the next look, given how many are left."""
    return FIRST * 2.0 ** (LOOKS - left)


def is_possible(driver: PluginDriver) -> bool:
    """Tell whether what is to be deleted may yet be made; what is to stay is nothing to wait for."""
    return driver.plugin.comes_late and driver.delete_kind() in _GOES


def looked(attempt: Attempt) -> Attempt:
    """Return an attempt with one look less to come."""
    return changed(attempt, unheard=attempt.unheard - 1)


def found(plugin: Resource) -> str | None:
    """Return the physical id of something beside what a plugin knows; None if there is nothing."""
    return next((each for each in plugin.find_all() if each != plugin.resource_id), None)


def is_alone(driver: PluginDriver, other: Callable[[], PluginDriver]) -> bool:
    """Remove what was made beside what a plugin knows; tell whether there is nothing of it left.

    Args:
        driver: of a create that is complete.
        other: makes another driver for the same resource, to remove what is not the resource's.
    """
    plugin = driver.plugin
    try:
        made = plugin.find_all()
        twins = [each for each in made if each != plugin.resource_id] if plugin.resource_id in made else []
        for twin in twins:
            LOG.warning("removing %s, which %s had made before, and late", twin, plugin)
            doomed = other()
            doomed.attach(replace(driver.incarnation, data={}), Unkept())
            remove(doomed, twin)
    except PollDelay:
        return False
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything; it is tried again
        LOG.warning(
            "what %s had made late is not removed yet: %s", plugin, account(error, plugin.definition.secrets)
        )
        return False
    return not twins


def is_stranded(driver: PluginDriver, attempt: Attempt) -> bool:
    """Tell whether a create that goes on, and whose answer nobody heard, will never come to its end."""
    return attempt.action is Action.CREATE and attempt.unheard > 0 and driver.plugin.is_stranded()


def remove(driver: PluginDriver, physical_id: str) -> bool:
    """Have a plugin delete something that its resource is not; tell whether it is gone.

    Whatever is to become of the resource: this is a second one, which nobody was told of.
    """
    driver.attach(replace(driver.incarnation, physical_id=physical_id), Unkept())
    driver.plugin.become(driver.plugin.definition.changed(deletion_policy=DeletionPolicy.DELETE))
    return driver.is_complete(Action.DELETE, driver.start(Action.DELETE))


def remove_orphan(orphan: PluginDriver, known: str | None) -> bool:
    """Delete what was made when the lock had been broken already, and nobody else has found.

    Args:
        orphan: drives the plugin that made it, or may have.
        known: the physical id that the row has now.

    Returns whether nothing of it is left; if not, this is to be called again.
    """
    plugin = orphan.plugin
    try:
        made = plugin.resource_id or plugin.find_existing()
        if made is None or made == known:
            return True
        LOG.warning("removing %s (%s), which was made without a lock", plugin, made)
        return remove(orphan, made)
    except PollDelay:
        return False
    except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again
        LOG.warning(
            "%s was made without a lock and could not be removed yet: %s",
            plugin,
            account(error, plugin.definition.secrets),
        )
        return False
