# SPDX-License-Identifier: Apache-2.0
"""``OS::Nova::KeyPair``: a user has but one of a name, so that a replacement takes its place.

Heat's deletes the old one before the new one is made, and cannot bring it back;
then it deletes the new one, by the name, when it clears the old one away.
"""

from __future__ import annotations

import json
from typing import Any

from heatconv.openstack.stand_ins.resource import Resource

WAS = "was"  #: the note of what the key pair was


class KeyPair(Resource):
    """A key pair that comes back with the public key that it had."""

    def prepare_for_replace(self) -> None:
        """Note what the key pair is, and delete it."""
        there = self._there()
        if there is not None:
            self.data_set(WAS, json.dumps(_identity(there)))
        super().prepare_for_replace()

    def restore_prev_rsrc(self, convergence: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Heat's
        """Make it again, in place of the one that has replaced it; a stranger's is in the way."""
        replacement = self.replaced_by
        was, there = self._was(), self._there()
        if was is None or (there is not None and _identity(there) == was):
            return
        if there is not None and replacement is not None and replacement.resource_id == self.resource_id:
            self.client().keypairs.delete(self.resource_id, **self._whose())
        self.client().keypairs.create(self.resource_id, was["public_key"], **_kind(was), **self._whose())

    def handle_delete(self) -> Any:
        """Delete it, unless it was handed over: then one of that name is another's."""
        if not self._incarnation.handed_over:
            return super().handle_delete()
        there = self._there()
        if there is not None and _identity(there) == self._was():
            return super().handle_delete()
        return None

    def _was(self) -> Any:
        note = self.data().get(WAS)
        return None if note is None else json.loads(note)

    def _there(self) -> Any:
        """Return the key pair of that name; None if there is none."""
        if self.resource_id is None:
            return None
        with self.client_plugin().ignore_not_found:
            return self.client().keypairs.get(self.resource_id, **self._whose())
        return None

    def _whose(self) -> dict[str, Any]:
        user = self.properties["user"]
        return {"user_id": user} if user else {}


def _identity(there: Any) -> dict[str, Any]:
    """Return the fields that tell a key pair from another of its name, and make one like it."""
    return {name: getattr(there, name, None) for name in ("created_at", "public_key", "type")}


def _kind(was: dict[str, Any]) -> dict[str, Any]:
    """Return the kind of a key pair, where Nova knows of kinds."""
    return {"key_type": was["type"]} if was["type"] else {}
