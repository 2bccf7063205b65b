# SPDX-License-Identifier: Apache-2.0
"""The base of every resource type, as the worker drives it."""

from __future__ import annotations

from enum import Enum
from typing import Any

from heatconv.model.definition import Definition
from heatconv.model.states import Action, DeletionPolicy
from heatconv.resources.exception import NoActionRequired, PollDelay, UpdateReplace
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff
from heatconv.resources.updating import Update, Updating

__all__ = ["DeleteKind", "NoActionRequired", "PollDelay", "Resource", "Update", "UpdateReplace"]


class DeleteKind(Enum):
    """What deleting a resource does to its physical counterpart."""

    NOTHING = "nothing"
    DELETE = "delete"
    SNAPSHOT = "snapshot"


class Resource(Updating):
    """A resource type; a plugin overrides what is declared in ``core`` and the ``hooks``."""

    _wanted: Definition | None = None  #: what the update under way leads to

    def start(self, action: Action, *args: Any) -> Any:
        """Start an action and return the plugin's token for it, JSON if the plugin is ours.

        UPDATE takes the three parts of an ``Update``, ADOPT the resource's
        part of what an abandoned stack left, RESTORE a definition and such a
        part of a snapshot.
        """
        match action:
            case Action.CREATE:
                return self._start_create()
            case Action.UPDATE:
                return self._start_update(*args)
            case Action.DELETE:
                return self._start_delete()
            case _:
                return getattr(self, f"handle_{action.lower()}")(*args)

    def _start_create(self) -> Any:
        self.properties.validate()
        if self.definition.external_id is not None:
            # It is there already and stays somebody else's: look at it, make nothing.
            self.resource_id_set(self.definition.external_id)
            return self.handle_check()
        if self.definition.metadata:
            self.metadata_set(self.definition.metadata)
        return self.handle_create()

    def _start_update(
        self, json_snippet: ResourceDefinition, tmpl_diff: ResourceDefinitionDiff, prop_diff: dict[str, Any]
    ) -> Any:
        # ``plan_update`` has validated what is wanted.
        if tmpl_diff.metadata_changed():
            self.metadata_set(json_snippet.metadata())
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

    def is_complete(self, action: Action, token: Any) -> bool:
        """Tell whether an action that was started is at its end.

        At the end of an update this object has become what was wanted.  One
        that did not start the update itself has to be told (``become``).

        Raises:
            PollDelay: not yet, and when to ask again.
        """
        if action is Action.CREATE and self.definition.external_id is not None:
            return bool(self.check_check_complete(token))
        if action is Action.DELETE and self.delete_kind() is DeleteKind.NOTHING:
            return True
        check = getattr(self, f"check_{action.lower()}_complete", None)
        complete = check is None or bool(check(token))
        if complete and action is Action.UPDATE and self._wanted is not None:
            self.become(self._wanted)
        return complete

    def cancel(self, action: Action, token: Any) -> None:
        """Tell the plugin that nobody waits for an action any more, if it cares."""
        told = getattr(self, f"handle_{action.lower()}_cancel", None)
        if told is not None:
            told(token)

    def delete_kind(self) -> DeleteKind:
        """Return what deleting the resource does to its physical counterpart."""
        if self.definition.external_id is not None:
            return DeleteKind.NOTHING
        return _DELETE_KINDS[self.definition.deletion_policy]


_DELETE_KINDS = {
    DeletionPolicy.DELETE: DeleteKind.DELETE,
    DeletionPolicy.RETAIN: DeleteKind.NOTHING,
    DeletionPolicy.SNAPSHOT: DeleteKind.SNAPSHOT,
}
