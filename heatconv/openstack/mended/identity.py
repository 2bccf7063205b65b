# SPDX-License-Identifier: Apache-2.0
"""Keystone's types: a name that is taken stays so, and a domain goes when it is disabled."""

from __future__ import annotations

from typing import Any

from heatconv.openstack.stand_ins.resource import Resource


class Named(Resource):
    """Something in Keystone that has its name to itself: to try again makes no difference."""

    def _is_conflict(self, error: Exception) -> bool:  # noqa: ARG002 - it is the same whatever it says
        """Tell whether what is in the way may be gone a little later."""
        return False


class Domain(Named):
    """A domain, which Keystone deletes only when it is disabled."""

    def handle_delete(self) -> Any:
        """Disable it, and delete it with all that is in it."""
        if self.resource_id is not None:
            with self.client_plugin().ignore_not_found:
                self.client().domains.update(self.resource_id, enabled=False)
        return super().handle_delete()
