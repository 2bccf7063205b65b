# SPDX-License-Identifier: Apache-2.0
"""When an update is due, as far as a plugin may see that differently: ``comparing`` has the rest."""

from __future__ import annotations

from heatconv.model.states import Action, Status
from heatconv.resources import exception
from heatconv.resources.hooks import Hooks
from heatconv.resources.properties import Properties
from heatconv.resources.rsrc_defn import ResourceDefinition


class Updating(Hooks):
    """A resource that tells whether what it should be by now takes an update."""

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
        return bool(after - before) or bool(changed_properties(before_props, after_props))

    def _check_state(self, after_props: Properties, check_init_complete: bool) -> None:
        """Raise UpdateReplace if the state, or the plugin, asks for a replacement whatever changed."""
        if self.status is Status.FAILED:
            unhealthy = self.action is Action.CHECK and self.always_replace_on_check_failed
            if unhealthy or self.needs_replace_failed():
                failed = f"its {self.action} failed, and it cannot go on from there"
                raise exception.UpdateReplace(self.name, reasons=[failed])
        nothing_there = {Action.DELETE, Action.INIT} if check_init_complete else {Action.DELETE}
        if self.action in nothing_there and self.status is Status.COMPLETE:
            raise exception.UpdateReplace(self.name, reasons=["it is not there any more"])
        if self.needs_replace(after_props):
            raise exception.UpdateReplace(self.name)


def changed_properties(before: Properties, after: Properties) -> set[str]:
    """Return the names of the properties that differ."""
    return {key for key in after if _differs(before, after, key)}


def _differs(before: Properties, after: Properties, key: str) -> bool:
    try:
        was = before.get(key)
    except (TypeError, ValueError):
        # What was applied once and is not valid any more has changed in any case.
        return True
    return bool(was != after.get(key))
