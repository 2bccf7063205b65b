# SPDX-License-Identifier: Apache-2.0
"""The base of every resource type, as the worker drives it."""

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
from heatconv.resources.exception import NoActionRequired, PollDelay, UpdateReplace
from heatconv.resources.handover import Handover
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff
from heatconv.resources.updating import Update

__all__ = ["DeleteKind", "NoActionRequired", "PollDelay", "Resource", "Update", "UpdateReplace"]

LOG = logging.getLogger(__name__)

#: What is done to somebody else's thing: it is looked at.
_LOOKS = frozenset({Action.CREATE, Action.ADOPT, Action.CHECK})


class DeleteKind(Enum):
    """What deleting a resource does to its physical counterpart."""

    NOTHING = "nothing"
    DELETE = "delete"
    SNAPSHOT = "snapshot"
    ABANDON = "abandon"


class Resource(Handover):
    """A resource type; a plugin overrides what is declared in ``core`` and the ``hooks``."""

    _wanted: Definition | None = None  #: what the update under way leads to

    def start(self, action: str, *args: Any) -> Any:
        """Start an action and return the plugin's token for it, JSON if the plugin is ours.

        UPDATE takes the three parts of an ``Update``; ADOPT the resource's part
        of what an abandoned stack left; any other action what its
        ``handle_<action>`` takes.
        """
        if self.definition.external_id is not None:
            return self._look_at_external(action)
        match action:
            case Action.CREATE:
                return self._start_create()
            case Action.UPDATE:
                return self._start_update(*args)
            case Action.DELETE:
                return self._start_delete()
            case Action.ADOPT:
                return self._start_adopt(*args)
            case _:
                return getattr(self, f"handle_{action.lower()}")(*args)

    def _look_at_external(self, action: str) -> Any:
        """Look at what is there already and stays somebody else's; make, change and remove nothing."""
        if action not in _LOOKS:
            return None
        if self.resource_id is None:
            self.resource_id_set(self.definition.external_id)
        return self.handle_check()

    def _start_create(self) -> Any:
        self.properties.validate()
        if self.definition.metadata:
            self.metadata_set(self.definition.metadata)
        try:
            return self.handle_create()
        except Exception as error:
            if self._is_conflict(error):
                # What is in the way may be gone a little later: that is worth another attempt.
                raise exception.ResourceInError(
                    resource_status="CONFLICT", status_reason=str(error)
                ) from error
            raise

    def _start_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        self.properties.validate()
        return self.handle_adopt(resource_data)

    def _start_update(
        self, json_snippet: ResourceDefinition, tmpl_diff: ResourceDefinitionDiff, prop_diff: dict[str, Any]
    ) -> Any:
        # ``plan_update`` has validated what is wanted.
        if tmpl_diff.metadata_changed():
            self.metadata_update(json_snippet.metadata())
        self._wanted = json_snippet.definition
        return self.handle_update(json_snippet, tmpl_diff, prop_diff)

    def _start_delete(self) -> Any:
        match self.delete_kind():
            case DeleteKind.NOTHING:
                return None
            case DeleteKind.SNAPSHOT:
                return self.handle_snapshot_delete(self.state)
            case DeleteKind.DELETE:
                return self.handle_delete()
            case DeleteKind.ABANDON:
                return self.handle_abandon()

    def is_complete(self, action: str, token: Any) -> bool:
        """Tell whether an action that was started is at its end.

        At the end of an update this object has become what was wanted.  One
        that did not start the update itself has to be told (``become``).

        Raises:
            PollDelay: not yet, and when to ask again.
        """
        if self.definition.external_id is not None:
            return action not in _LOOKS or bool(self.check_check_complete(token))
        if action == Action.DELETE:
            match self.delete_kind():
                case DeleteKind.NOTHING:
                    return True
                case DeleteKind.ABANDON:
                    return self.check_abandon_complete(token)
        check = getattr(self, f"check_{action.lower()}_complete", None)
        complete = check is None or bool(check(token))
        if complete and action == Action.UPDATE and self._wanted is not None:
            self.become(self._wanted)
        return complete

    def cancel(self, action: str, token: Any) -> None:
        """Tell the plugin that nobody waits for an action any more, if it cares.

        Raises:
            TransportError: an engine has to know, and none answered.
        """
        told = getattr(self, f"handle_{action.lower()}_cancel", None)
        if told is None or self.definition.external_id is not None:
            return
        try:
            told(token)
        except errors.TransportError:
            raise  # nobody was told yet
        except Exception as error:  # noqa: BLE001 - the action is over, for a reason that is known already
            LOG.warning(
                "%s: cancelling its %s failed: %s", self, action, account(error, self.definition.secrets)
            )

    def delete_kind(self) -> DeleteKind:
        """Return what deleting the resource does to its physical counterpart."""
        if self.definition.external_id is not None:
            return DeleteKind.NOTHING
        return _DELETE_KINDS[self.definition.deletion_policy]

    def _is_conflict(self, error: Exception) -> bool:
        try:
            return bool(self.client_plugin().is_conflict(error))
        except exception.ClientNotAvailable:
            return False


_DELETE_KINDS = {
    DeletionPolicy.DELETE: DeleteKind.DELETE,
    DeletionPolicy.RETAIN: DeleteKind.NOTHING,
    DeletionPolicy.SNAPSHOT: DeleteKind.SNAPSHOT,
    DeletionPolicy.ABANDON: DeleteKind.ABANDON,
}
