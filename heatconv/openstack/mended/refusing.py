# SPDX-License-Identifier: Apache-2.0
"""What can be changed, but not to this: it is refused when it is compared, so that a plan says so.

Heat's refuse it when the update has begun.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from heatconv import errors
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources.properties import Properties


class Refusing(Resource):
    """A resource that does not become everything that its properties may say."""

    def needs_replace_with_prop_diff(
        self, changed_properties_set: set[str], after_props: Properties, before_props: Properties
    ) -> bool:
        """Tell whether a change of some properties takes a replacement.

        Raises:
            NotSupported: there is no way to such values.
        """
        self.refuse({name: after_props.get(name) for name in changed_properties_set})
        return super().needs_replace_with_prop_diff(changed_properties_set, after_props, before_props)

    @abstractmethod
    def refuse(self, wanted: Mapping[str, Any]) -> None:
        """Raise NotSupported if it cannot become what is wanted of the properties that change."""


class Volume(Refusing):
    """A volume, which never shrinks."""

    def refuse(self, wanted: Mapping[str, Any]) -> None:
        """Raise NotSupported if a smaller size is wanted than the volume has."""
        size = wanted.get("size")
        if not isinstance(size, int):
            return
        with self.client_plugin().ignore_not_found:
            has = self.client().volumes.get(self.resource_id).size
            if size < has:
                raise errors.NotSupported(feature=f"Shrinking a volume from {has} GB to {size} GB")


class SecurityGroup(Refusing):
    """A security group, which is stateful or not as long as ports are in it."""

    def refuse(self, wanted: Mapping[str, Any]) -> None:
        """Raise NotSupported if another state is wanted, and there are ports in the group."""
        if isinstance(wanted.get("stateful"), bool):
            self._ensure_stateful_update_allowed(wanted["stateful"])  # type: ignore[attr-defined]  # Heat's


class Subnet(Refusing):
    """A subnet, which stays in its segment, and whose gateway has an address."""

    def refuse(self, wanted: Mapping[str, Any]) -> None:
        """Raise NotSupported if another segment is wanted, or that Neutron chooses a gateway again."""
        if wanted.get("segment") and self.properties["segment"] is not None:
            raise errors.NotSupported(feature="Moving a subnet from one segment to another")
        if wanted.get("gateway_ip") == "auto":
            raise errors.NotSupported(feature='Changing the gateway_ip of a subnet to "auto"')
