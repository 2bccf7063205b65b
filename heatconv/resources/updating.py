# SPDX-License-Identifier: Apache-2.0
"""What a change of its definition means to a resource: nothing, an update, a replacement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatconv.model.definition import Definition
from heatconv.model.states import Action, Status
from heatconv.resources import exception
from heatconv.resources.hooks import Hooks
from heatconv.resources.properties import Properties
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff


@dataclass(frozen=True)
class Update:
    """An update that is due: the arguments of ``handle_update``, in its order."""

    json_snippet: ResourceDefinition
    tmpl_diff: ResourceDefinitionDiff
    prop_diff: Mapping[str, Any]


class Updating(Hooks):
    """A resource that compares what it is with what it should be."""

    def plan_update(self, after: Definition) -> Update | None:
        """Return the update that makes the resource, as applied, match a resolved definition.

        None if nothing is to be done.  What depends on nothing but the order
        of things (``depends_on``, the description) is no difference.

        Raises:
            UpdateReplace: it takes a replacement.
            NotSupported: a property may not change at all.
        """
        snippet, before = ResourceDefinition.of(after), self.frozen_definition()
        self.regenerate_info_schema(snippet)
        after_props = self.parse_properties(after)
        due = self._needs_update(snippet, before, after_props, self.properties, None)
        self._check_external(after)
        if not due or after.external_id is not None:
            # What is somebody else's is looked at and never changed.
            return None
        after_props.validate()
        difference, changed = snippet - before, _changed(self.properties, after_props)
        if self.needs_replace_with_tmpl_diff(difference):
            raise exception.UpdateReplace(self.name)
        self._check_properties(changed, after_props)
        # Names that the rules have looked up are ids for the hooks, too.
        translated = snippet.translated(after_props.data)
        return Update(translated, difference, {key: after_props.get(key) for key in sorted(changed)})

    def _needs_update(
        self,
        after: ResourceDefinition,
        before: ResourceDefinition,
        after_props: Properties,
        before_props: Properties,
        prev_resource: None,
        check_init_complete: bool = True,
    ) -> bool:
        """Tell whether an update is due; a plugin may think otherwise of its resource than this does.

        Raises:
            UpdateReplace: it takes a replacement, whatever changed.
        """
        self._check_state(after_props, check_init_complete)
        return bool(after - before) or bool(_changed(before_props, after_props))

    def _check_state(self, after_props: Properties, check_init_complete: bool) -> None:
        """Raise UpdateReplace if the state, or the plugin, asks for a replacement whatever changed."""
        if self.status is Status.FAILED:
            unhealthy = self.action is Action.CHECK and self.always_replace_on_check_failed
            if unhealthy or self.needs_replace_failed():
                raise exception.UpdateReplace(self.name)
        nothing_there = {Action.DELETE, Action.INIT} if check_init_complete else {Action.DELETE}
        not_there = self.action in nothing_there and self.status is Status.COMPLETE
        if not_there or self.needs_replace(after_props):
            raise exception.UpdateReplace(self.name)

    def _check_external(self, after: Definition) -> None:
        if after.external_id != self.definition.external_id:
            raise exception.NotSupported(feature=f"Update to property external_id of {self.name}")

    def _check_properties(self, changed: set[str], after_props: Properties) -> None:
        fixed = sorted(key for key in changed if self.properties_schema[key].immutable)
        if fixed:
            raise exception.NotSupported(feature=f"Update to properties {', '.join(fixed)} of {self.name}")
        if changed and self.needs_replace_with_prop_diff(changed, after_props, self.properties):
            raise exception.UpdateReplace(self.name)
        if changed - self.updatable():
            raise exception.UpdateReplace(self.name)


def _changed(before: Properties, after: Properties) -> set[str]:
    """Return the names of the properties that differ."""
    return {key for key in after if _differs(before, after, key)}


def _differs(before: Properties, after: Properties, key: str) -> bool:
    try:
        was = before.get(key)
    except (TypeError, ValueError):
        # What was applied once and is not valid any more has changed in any case.
        return True
    return bool(was != after.get(key))
