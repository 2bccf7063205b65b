# SPDX-License-Identifier: Apache-2.0
"""What drives a plugin: each action from its beginning to its end, comparing, looking, asking.

``Resource`` is what the author of a plugin sees.  Everybody who wants something of a
plugin holds its driver, which calls the plugin's hooks in the order that they are promised
to be called in.  A driver remembers what it does: an update belongs to one from its
beginning to its end.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import Enum
from typing import Any

from heatconv import errors
from heatconv.model.definition import Definition
from heatconv.model.secrets import account
from heatconv.model.states import Action, DeletionPolicy
from heatconv.resources import exception
from heatconv.resources.comparing import Update, update_to
from heatconv.resources.declared import implements, leaves_snapshots, updatable
from heatconv.resources.facts import Incarnation, Keeper, StackFacts
from heatconv.resources.resource import Resource
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff

LOG = logging.getLogger(__name__)

#: What is done to somebody else's thing: it is looked at.
_LOOKS = frozenset({Action.CREATE, Action.ADOPT, Action.CHECK})

#: The hooks of which any lets something be known of how the physical resource is now.
_TELLING = ("get_live_state", "get_live_resource_data", "observe_many", "_show_resource")


class DeleteKind(Enum):
    """What deleting a resource does to its physical counterpart."""

    NOTHING = "nothing"
    DELETE = "delete"
    SNAPSHOT = "snapshot"
    ABANDON = "abandon"


class PluginDriver:
    """Drives one plugin; a type that takes another way says so with a subclass, in ``_driver``."""

    def __init__(self, plugin: Resource) -> None:
        self.plugin = plugin
        self._wanted: Definition | None = None  #: what the update under way leads to

    # -- its state ----------------------------------------------------------------------

    def attach(self, incarnation: Incarnation, keeper: Keeper | None) -> None:
        """Bind the plugin to the state its resource is in, and to where it keeps what it learns.

        Without a keeper it learns for as long as it lives: who asks what would be wants no more.
        """
        self.plugin._attach(incarnation, keeper)

    @property
    def incarnation(self) -> Incarnation:
        """The state the resource is in, with what the plugin has learned since."""
        return self.plugin._incarnation

    @property
    def was_not_found(self) -> bool:
        """Whether an attribute was told as None since its service did not find what that is of."""
        return self.plugin._was_not_found

    # -- an action ----------------------------------------------------------------------

    def start(self, action: str, *args: Any) -> Any:
        """Start an action and return the plugin's token for it, JSON if the plugin is ours.

        UPDATE takes the three parts of an ``Update``; ADOPT the resource's part
        of what an abandoned stack left; any other action what its
        ``handle_<action>`` takes.
        """
        plugin = self.plugin
        if plugin.definition.external_id is not None:
            return self._look_at_external(action)
        match action:
            case Action.CREATE:
                return self._start_create()
            case Action.UPDATE:
                return self._start_update(*args)
            case Action.DELETE:
                return self._start_delete()
            case Action.ADOPT:
                plugin.properties.validate()
                return plugin.handle_adopt(*args)
            case _:
                return getattr(plugin, f"handle_{action.lower()}")(*args)

    def _look_at_external(self, action: str) -> Any:
        """Look at what is there already and stays somebody else's; make, change and remove nothing."""
        if action not in _LOOKS:
            return None
        plugin = self.plugin
        if plugin.resource_id is None:
            plugin.resource_id_set(plugin.definition.external_id)
        return plugin.handle_check()

    def _start_create(self) -> Any:
        plugin = self.plugin
        plugin.properties.validate()
        if plugin.definition.metadata:
            plugin.metadata_set(plugin.definition.metadata)
        try:
            return plugin.handle_create()
        except Exception as error:
            if plugin._is_conflict(error):
                # What is in the way may be gone a little later: that is worth another attempt.
                raise exception.ResourceInError(
                    resource_status="CONFLICT", status_reason=str(error)
                ) from error
            raise

    def _start_update(
        self, json_snippet: ResourceDefinition, tmpl_diff: ResourceDefinitionDiff, prop_diff: dict[str, Any]
    ) -> Any:
        # ``plan_update`` has validated what is wanted.
        if tmpl_diff.metadata_changed():
            self.plugin.metadata_update(json_snippet.metadata())
        self._wanted = json_snippet.definition
        return self.plugin.handle_update(json_snippet, tmpl_diff, prop_diff)

    def _start_delete(self) -> Any:
        plugin = self.plugin
        match self.delete_kind():
            case DeleteKind.NOTHING:
                return None
            case DeleteKind.SNAPSHOT:
                return plugin.handle_snapshot_delete(plugin.state)
            case DeleteKind.DELETE:
                return plugin.handle_delete()
            case DeleteKind.ABANDON:
                return plugin.handle_abandon()

    def is_complete(self, action: str, token: Any) -> bool:
        """Tell whether an action that was started is at its end.

        At the end of an update the plugin has become what was wanted, if this driver
        started the update; else the plugin has to be told (``become``).

        Raises:
            PollDelay: not yet, and when to ask again.
        """
        complete = self._is_done(action, token)
        if complete and action == Action.DELETE:
            self.plugin._deleted()
        if complete and action == Action.UPDATE and self._wanted is not None:
            self.plugin.become(self._wanted)
        return complete

    def _is_done(self, action: str, token: Any) -> bool:
        """Tell whether there is nothing more to do to the physical resource."""
        plugin = self.plugin
        if plugin.definition.external_id is not None:
            return action not in _LOOKS or bool(plugin.check_check_complete(token))
        if action == Action.DELETE:
            match self.delete_kind():
                case DeleteKind.NOTHING:
                    return True
                case DeleteKind.ABANDON:
                    return plugin.check_abandon_complete(token)
        check = getattr(plugin, f"check_{action.lower()}_complete", None)
        return check is None or bool(check(token))

    def cancel(self, action: str, token: Any) -> None:
        """Tell the plugin that nobody waits for an action any more, if it cares.

        Raises:
            TransportError: an engine has to know, and none answered.
        """
        plugin = self.plugin
        cancel_hook = getattr(plugin, f"handle_{action.lower()}_cancel", None)
        if cancel_hook is None or plugin.definition.external_id is not None:
            return
        try:
            cancel_hook(token)
        except errors.TransportError:
            raise  # nobody was told yet
        except Exception as error:  # noqa: BLE001 - the action is over, for a reason that is known already
            said = account(error, plugin.definition.secrets)
            LOG.warning("%s: cancelling its %s failed: %s", plugin, action, said)

    def delete_kind(self) -> DeleteKind:
        """Return what deleting the resource does to its physical counterpart."""
        definition = self.plugin.definition
        if definition.external_id is not None:
            return DeleteKind.NOTHING
        kind = _DELETE_KINDS[definition.deletion_policy]
        # Nobody wants a snapshot of this one: its name was given to a resource of another type.
        if kind is DeleteKind.SNAPSHOT and not leaves_snapshots(type(self.plugin)):
            return DeleteKind.DELETE
        return kind

    # -- another definition, another incarnation ------------------------------------------

    def plan_update(self, after: Definition) -> Update | None:
        """Return the update that a definition takes; see ``comparing.update_to``."""
        return update_to(self.plugin, after)

    def take_back(self, replacement: Resource | None) -> None:
        """Let the plugin take back what it handed over, be there a replacement that got it or none."""
        plugin = self.plugin
        plugin.replaced_by = replacement or type(plugin)(plugin.name, plugin.definition, plugin.stack)
        plugin.restore_prev_rsrc(convergence=True)

    # -- how it really is ------------------------------------------------------------------

    @classmethod
    def is_observable(cls, type_: type[Resource]) -> bool:
        """Tell whether anything can be known of how physical resources of a type are now."""
        named = bool(type_.entity and type_.default_client_name)
        return named or any(implements(type_, hook) for hook in _TELLING)

    def observe(self) -> Mapping[str, Any]:
        """Return the properties that could be read from the physical resource, as they are now.

        Raises:
            PhysicalResourceGone: it is not there any more.
            ResourceInError: it is there, and its service says that it is broken.
        """
        plugin = self.plugin
        try:
            return plugin.get_live_state(plugin.properties) or {}
        except errors.NotFound as error:
            raise errors.PhysicalResourceGone(name=plugin.name) from error

    def differences(self, live: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is live of the comparable properties that are not as they were made."""
        plugin = self.plugin
        return {
            name: live[name]
            for name in sorted(plugin.comparable() & live.keys())
            if not plugin.properties_schema[name].agrees(plugin._chosen(name), live[name])
        }

    def unexpected(self, live: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is live of ``given_only`` properties that nobody gave, if an update can unset it."""
        plugin = self.plugin
        return {
            name: live[name]
            for name in sorted(updatable(plugin).intersection(plugin.given_only) & live.keys())
            if plugin._chosen(name) is None and live[name] not in (None, "", [], {})
        }


def driver_of(plugin: Resource) -> PluginDriver:
    """Return a driver for a plugin, of the kind that its type takes."""
    return _kind_for(type(plugin))(plugin)


def driven(
    type_: type[Resource],
    name: str,
    definition: Definition,
    stack: StackFacts,
    incarnation: Incarnation,
    keeper: Keeper | None,
) -> PluginDriver:
    """Return a new plugin of a type with its driver, attached to a state."""
    driver = driver_of(type_(name, definition, stack))
    driver.attach(incarnation, keeper)
    return driver


def is_observable(type_: type[Resource]) -> bool:
    """Tell whether anything can be known of how physical resources of a type are now."""
    return _kind_for(type_).is_observable(type_)


def _kind_for(type_: type[Resource]) -> type[PluginDriver]:
    return type_._driver or PluginDriver


_DELETE_KINDS = {
    DeletionPolicy.DELETE: DeleteKind.DELETE,
    DeletionPolicy.RETAIN: DeleteKind.NOTHING,
    DeletionPolicy.SNAPSHOT: DeleteKind.SNAPSHOT,
    DeletionPolicy.ABANDON: DeleteKind.ABANDON,
}
