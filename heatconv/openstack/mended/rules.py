# SPDX-License-Identifier: Apache-2.0
"""Security groups: an update of the rules in one leaves those alone that are resources of their own.

Heat's takes away every rule that the group does not name, those of ``OS::Neutron::SecurityGroupRule``
among them, and the stacks that have these do not know that they are gone.
"""

from __future__ import annotations

from typing import Any

from heatconv.openstack.existing import is_mark
from heatconv.openstack.mended import in_use, refusing


class SecurityGroup(refusing.SecurityGroup, in_use.SecurityGroup):
    """A security group that keeps the rules whose description marks them as a resource's."""

    def _update_rules(self, rules: Any) -> None:
        """Make the rules those that are given, beside those that are resources of their own."""
        own = list(rules or ())
        if not any(each["direction"] == "egress" for each in own):
            own += self.default_egress_rules  # type: ignore[attr-defined]  # Heat's
        group = self.client().show_security_group(self.resource_id)["security_group"]
        others = [each for each in group["security_group_rules"] if is_mark(each.get("description"))]
        super()._update_rules([*own, *others])  # type: ignore[misc]  # Heat's
