# SPDX-License-Identifier: Apache-2.0
"""Looking at what an interrupted action left, where its token is lost.

What a look cannot show is taken for not done: to do a thing again, or to undo
it and make it anew, is right in any case and only takes longer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from heatconv import errors
from heatconv.model.records import Attempt
from heatconv.model.states import Action
from heatconv.resources.comparing import Update
from heatconv.resources.declared import implements
from heatconv.resources.driver import DeleteKind, PluginDriver, is_observable
from heatconv.resources.exception import PollDelay
from heatconv.worker import faults

#: What services call a thing that nothing is going on with; one without a status is there or is not.
_SETTLED = frozenset({None, "ACTIVE", "AVAILABLE", "COMPLETE", "CREATE_COMPLETE", "IN-USE", "UP", "OK"})
_NOTHING: Collection[Any] = (None, "", [], {})  #: what a property is to a service that nobody gave


def leaves_unknown(driver: PluginDriver, attempt: Attempt) -> str | None:
    """Return a sentence on what an action leaves behind if its worker dies between call and answer.

    None if whatever it leaves is found again.
    """
    plugin, type_ = driver.plugin, type(driver.plugin)
    if plugin.only_here or plugin.definition.external_id is not None:
        return None
    match attempt.action:
        case Action.DELETE if plugin.resource_id is not None:
            if plugin.goes_by_what_it_finds or driver.delete_kind() is not DeleteKind.SNAPSHOT:
                return None
            what = f"a second copy of {plugin.resource_id}"
        case Action.CREATE | Action.DELETE if plugin.resource_id is None and not plugin.is_searchable():
            what = f"an object of the type {plugin.type()}"
        case Action.SNAPSHOT if not plugin.goes_by_what_it_finds and implements(type_, "handle_snapshot"):
            what = f"a copy of {plugin.resource_id}"
        case _:
            return None
    action = Action.CREATE if plugin.resource_id is None else attempt.action
    return (
        f"the {action} of {plugin.name} was interrupted before it was known what it made; it may have left"
        f' {what} behind, with the name "{plugin.physical_resource_name()}" unless the type gives its own:'
        " if there is one that no stack has, remove it by hand"
    )


def insist_on_life(driver: PluginDriver) -> None:
    """Refuse what could not be deleted if it is not well, or if nobody can tell.

    Raises:
        PhysicalResourceGone: it is not there any more.
        ResourceInError: it is there, and its service says that it is broken.
        NotSupported: there is nothing to look at it with.
    """
    plugin = driver.plugin
    if plugin.only_here:
        return
    if is_observable(type(plugin)):
        driver.observe()
    elif not implements(type(plugin), "handle_check"):
        raise errors.NotSupported(feature=f"Looking at a {plugin.type()} that could not be deleted")


def is_missing(driver: PluginDriver) -> bool:
    """Tell whether the plugin's thing is seen not to be there; one that nobody can look at may be.

    Raises:
        Exception: the service could not be asked just now.
    """
    if not is_observable(type(driver.plugin)):
        return False
    try:
        driver.observe()
    except errors.PhysicalResourceGone:
        return True
    except Exception as error:
        if faults.is_passing(error, Action.CHECK):
            raise
    return False


def is_whole(driver: PluginDriver) -> bool:
    """Tell whether what a create made is seen to be well and to be all that was asked for.

    What was given and is told in no look, such as the rules of a security group, may be
    what the create had not come to yet.

    Raises:
        Exception: the service could not be asked just now.
    """
    plugin = driver.plugin
    return _shows(driver, plugin.comparable() | plugin.definition.properties.keys())


def has_arrived(driver: PluginDriver, update: Update) -> bool:
    """Tell whether the plugin's thing is seen to be well and as an update to its definition leaves it.

    What is no property the service cannot be asked about.

    Raises:
        Exception: the service could not be asked just now.
    """
    others = update.tmpl_diff.metadata_changed() or update.tmpl_diff.update_policy_changed()
    return bool(update.prop_diff) and not others and _shows(driver, update.prop_diff)


def _shows(driver: PluginDriver, names: Collection[str]) -> bool:
    if not is_observable(type(driver.plugin)):
        return False
    try:
        return _is_well(driver) and _agrees(driver, driver.observe(), names)
    except PollDelay:
        return False
    except Exception as error:
        if faults.is_passing(error, Action.CHECK):
            raise
        return False


def _is_well(driver: PluginDriver) -> bool:
    if implements(type(driver.plugin), "handle_check"):
        return driver.is_complete(Action.CHECK, driver.start(Action.CHECK))
    live = driver.plugin.get_live_resource_data()
    status = live.get("status") if isinstance(live, Mapping) else None
    return status is None or str(status).upper() in _SETTLED


def _agrees(driver: PluginDriver, live: Mapping[str, Any], names: Collection[str]) -> bool:
    different, given = driver.differences(live), driver.plugin.comparable()
    return all(
        name in live and name not in different and (name in given or live[name] in _NOTHING) for name in names
    )
