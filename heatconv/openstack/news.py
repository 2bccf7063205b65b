# SPDX-License-Identifier: Apache-2.0
"""What the services of a cloud publish of their objects, and whose ids are in it.

Only events are read after which something may be at its end or otherwise than
it was made; the many that tell of steps in between are not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

ENDS = (
    "create.end",
    "create.error",
    "delete.end",
    "soft_delete.end",
    "suspend.end",
    "resume.end",
    "power_off.end",
    "power_on.end",
    "rebuild.end",
    "finish_resize.end",
    "resize_finish.end",
    "resize.confirm.end",
    "resize_confirm.end",
    "resize.revert.end",
    "resize_revert.end",
)


class Nova:
    """Servers, in either format."""

    notifications: ClassVar[Collection[str]] = [
        f"{prefix}.{end}" for prefix in ("instance", "compute.instance") for end in ENDS
    ]

    @classmethod
    def notified(cls, _event_type: str, payload: Mapping[str, Any]) -> Iterator[str]:
        """Yield the id of a server."""
        data = payload.get("nova_object.data")
        yield payload["instance_id"] if data is None else data["uuid"]


class Neutron:
    """All that Neutron's API makes: it says what was changed and what was deleted."""

    _KINDS = (
        "address_scope",
        "floatingip",
        "network",
        "policy",
        "port",
        "router",
        "security_group",
        "security_group_rule",
        "subnet",
        "subnetpool",
        "trunk",
    )
    notifications: ClassVar[Collection[str]] = [
        f"{kind}.{end}" for kind in _KINDS for end in ("update.end", "delete.end")
    ]

    @classmethod
    def notified(cls, event_type: str, payload: Mapping[str, Any]) -> Iterator[str]:
        """Yield the id of an object."""
        kind = event_type.partition(".")[0]
        yield payload[f"{kind}_id"] if f"{kind}_id" in payload else payload[kind]["id"]


class Cinder:
    """Volumes; what is attached to a server goes by the id of the volume, too."""

    notifications: ClassVar[Collection[str]] = [
        f"volume.{end}"
        for end in (
            "create.end",
            "create.error",
            "delete.end",
            "attach.end",
            "detach.end",
            "resize.end",
            "update.end",
            "retype",
        )
    ]

    @classmethod
    def notified(cls, _event_type: str, payload: Mapping[str, Any]) -> Iterator[str]:
        """Yield the id of a volume."""
        yield payload["volume_id"]


class Keystone:
    """What administrators make, in either format."""

    notifications: ClassVar[Collection[str]] = [
        f"identity.{kind}.{end}"
        for kind in ("project", "user", "group", "role", "domain", "service", "endpoint")
        for end in ("updated", "deleted", "disabled")
    ]

    @classmethod
    def notified(cls, _event_type: str, payload: Mapping[str, Any]) -> Iterator[str]:
        """Yield the id of an object."""
        yield payload["resource_info"]


READERS = (Nova, Neutron, Cinder, Keystone)
