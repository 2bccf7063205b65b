# SPDX-License-Identifier: Apache-2.0
"""What a plugin does: every hook of Heat's contract, with Heat's default.

``handle_<action>`` starts an action and returns a token; plain JSON is kept
across restarts of a worker, anything else works while the worker lives.
``check_<action>_complete`` gets that token until it returns true; it may raise
``PollDelay`` to be asked later.  What they raise otherwise fails the action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from heatconv.model.states import DeletionPolicy
from heatconv.resources import exception, stack_users
from heatconv.resources.declared import implements, leaves_snapshots
from heatconv.resources.facts import Among
from heatconv.resources.properties import Properties
from heatconv.resources.reading import Reading
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff


class Hooks(Reading):
    """A resource whose actions do nothing yet, which is what most types need of most of them."""

    # -- validation ---------------------------------------------------------------------

    def validate(self) -> Any:
        """Accept the definition; a text returned, or an error raised, refuses it."""
        self.properties.validate()

    @classmethod
    def validate_deletion_policy(cls, policy: str) -> Any:
        """Accept a deletion policy; a text returned, or an error raised, refuses it."""
        if policy == DeletionPolicy.SNAPSHOT and not leaves_snapshots(cls):
            raise exception.StackValidationFailed(
                message='The type does not support the policy "Snapshot"; use "Delete" or "Retain".'
            )

    def add_dependencies(self, deps: Any) -> None:
        """Add dependencies no reference tells: ``deps += (self, other)``."""

    def looks_among(self) -> Among | None:
        """Return among which resources of the template ``add_dependencies`` finds any; None: all.

        A type that says so costs a template of thousands no more than it has to.
        """
        return None

    def regenerate_info_schema(self, definition: ResourceDefinition) -> None:
        """Adapt this object's schemas to a definition that it is to be compared with."""

    # -- create -------------------------------------------------------------------------

    def handle_create(self) -> Any:
        """Start to create the physical resource."""

    def check_create_complete(self, token: Any) -> bool:
        """Tell whether it is there."""
        return True

    def find_existing(self) -> str | None:
        """Return the physical id of what an interrupted create made, or None.

        Found by what is the same whenever this incarnation asks, such as
        ``physical_resource_name()``.  With it a crash never leaves a twin.
        """
        return None

    def find_all(self) -> Sequence[str]:
        """Return the physical ids of all that creates of this incarnation made, not only of one.

        Where the type ``comes_late``, a create that was taken for lost may have been
        carried out beside the one that was begun in its place.
        """
        found = self.find_existing()
        return () if found is None else (found,)

    def find_named(self) -> Iterable[tuple[str, str]]:
        """Return the physical id and the name of all things of the type that the stack's user sees.

        The name is ``physical_resource_name()``, or ends in it, of those that stacks made.  With it
        operators are shown what no stack has.  Called of a resource that stands for nothing.
        """
        return ()

    def is_searchable(self) -> bool:
        """Tell whether ``find_existing`` would find what a create of this very definition made."""
        return implements(type(self), "find_existing")

    def goes_on(self) -> bool:
        """Tell whether nothing remains of an interrupted create but to wait, once there is something.

        Else, what was made is deleted and made anew unless it is seen to be whole.
        """
        return self.goes_by_what_it_finds

    def is_intact(self) -> bool:
        """Tell whether what a create made still has all that it was given.

        Where the type ``comes_late``, one that was made beside it, and removed, may have taken it along.
        """
        return True

    def is_stranded(self) -> bool:
        """Tell whether what a create has begun will never be complete, although its service says it goes on.

        Asked only while a create goes on whose answer nobody heard, and after it was found not to be
        complete: what is stranded is deleted and made anew.
        """
        return False

    def token_of(self) -> Any:
        """Return the token with which to wait for what was found, if it ``goes_on``."""
        return None

    # -- update -------------------------------------------------------------------------

    def needs_replace(self, after_props: Properties) -> bool:
        """Tell whether the resource is to be replaced whatever changed."""
        return False

    def needs_replace_failed(self) -> bool:
        """Tell whether a resource whose last action failed is to be replaced."""
        return True

    def needs_replace_with_tmpl_diff(self, tmpl_diff: ResourceDefinitionDiff) -> bool:
        """Tell whether a change of the snippet asks for a replacement."""
        return False

    def needs_replace_with_prop_diff(
        self, changed_properties_set: set[str], after_props: Properties, before_props: Properties
    ) -> bool:
        """Tell whether a change of these properties asks for a replacement."""
        return False

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: ResourceDefinitionDiff,
        prop_diff: Mapping[str, Any],
    ) -> Any:
        """Start to change the physical resource in place."""
        if prop_diff:
            raise exception.UpdateReplace(self.name)

    def check_update_complete(self, token: Any) -> bool:
        """Tell whether it is as wanted."""
        return True

    def handle_preempt(self) -> None:
        """Bring the action under way to an end: a newer update waits for that."""

    # -- delete -------------------------------------------------------------------------

    def handle_delete(self) -> Any:
        """Start to delete the physical resource; one that is gone already is fine."""
        if self.entity is None or self.resource_id is None:
            return None
        try:
            getattr(self.client(), self.entity).delete(self.resource_id)
        except Exception as error:
            if self._is_gone(error):
                return None
            raise
        return self.resource_id

    def handle_snapshot_delete(self, state: tuple[str, str]) -> Any:
        """Start to delete the physical resource and leave a snapshot of it behind."""
        raise exception.NotSupported(feature=f'Deletion policy "Snapshot" for {self.type()}')

    def check_delete_complete(self, token: Any) -> bool:
        """Tell whether it is gone."""
        return True

    def _deleted(self) -> None:
        """Clear away what goes with the resource itself, now that its deletion is at its end.

        Whatever became of the physical resource; once more if it was interrupted.
        """

    def handle_abandon(self) -> Any:
        """Let go of the physical resource, which stays: the one that owns others may have to tell them."""

    def check_abandon_complete(self, token: Any) -> bool:
        """Tell whether they all let go."""
        return True

    # -- the other actions --------------------------------------------------------------

    def handle_suspend(self) -> Any:
        """Start to suspend the physical resource."""

    def check_suspend_complete(self, token: Any) -> bool:
        """Tell whether it is suspended."""
        return True

    def handle_resume(self) -> Any:
        """Start to resume the physical resource."""

    def check_resume_complete(self, token: Any) -> bool:
        """Tell whether it runs again."""
        return True

    def handle_check(self) -> Any:
        """Look at the physical resource; raise if it is not healthy."""

    def check_check_complete(self, token: Any) -> bool:
        """Tell whether it was looked at."""
        return True

    def handle_snapshot(self) -> Any:
        """Start to take a snapshot; what it takes to restore it goes to ``data_set``."""

    def check_snapshot_complete(self, token: Any) -> bool:
        """Tell whether it was taken."""
        return True

    def handle_delete_snapshot(self, snapshot: Mapping[str, Any]) -> Any:
        """Start to delete a snapshot, given as its resource's part of it."""

    def check_delete_snapshot_complete(self, token: Any) -> bool:
        """Tell whether it is gone."""
        return True

    def handle_restore(self, defn: ResourceDefinition, restore_data: Mapping[str, Any]) -> ResourceDefinition:
        """Return the definition that brings a snapshot back when it is applied."""
        return defn

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        """Take over a physical resource that is there already."""
        physical_id = resource_data.get("resource_id")
        if not physical_id:
            raise exception.Error(f"Resource {self.name} cannot be adopted: its data have no resource_id.")
        self.resource_id_set(physical_id)
        self._recall(resource_data)

    def _recall(self, resource_data: Mapping[str, Any]) -> None:
        """Take over what the adopted resource remembered: its notes and its metadata.

        Not who its user is: who may speak for a resource is never what somebody sends.
        """
        for key, value in (resource_data.get("resource_data") or {}).items():
            if key not in stack_users.ACCOUNT:
                self.data_set(key, value)
        self.metadata_set(resource_data.get("metadata") or {})

    def check_adopt_complete(self, token: Any) -> bool:
        """Tell whether it was taken over."""
        return True

    def handle_signal(self, details: Any = None) -> str | None:
        """React to a signal; return the reason to note with it."""
        raise exception.ResourceActionNotSupported(action="Signal")

    def handle_metadata_reset(self) -> None:
        """Forget what the metadata know of a failure that was overcome."""

    # -- many at once -------------------------------------------------------------------

    @classmethod
    def observe_many(
        cls, resources: Sequence[Self]
    ) -> Mapping[str, Mapping[str, Any] | exception.ResourceInError | None]:
        """Return what ``get_live_state`` gives for each of the resources, by ``uuid``.

        None stands for one that is gone, a ``ResourceInError`` for one that is
        broken; of one that is left out nothing is known.  For types whose
        service answers for many at once, and for no others.
        """
        raise NotImplementedError

    # -- what a service tells by itself ---------------------------------------------------

    @classmethod
    def notified(cls, event_type: str, payload: Any) -> Iterable[str]:
        """Return the physical ids of what a notification is about.

        Called in an engine with each notification whose type is one of
        ``notifications``, of which there is none by default; what is returned
        is looked at soon.  To be quick: it asks nobody.
        """
        raise NotImplementedError
