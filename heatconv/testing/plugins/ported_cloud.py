# SPDX-License-Identifier: Apache-2.0
"""Resource types of the fake cloud, written as Heat's own are: see ``fake_cloud`` for their address.

A token is a map that each hook counts on; nothing is looked for that a lost answer,
or a worker that died, may have left behind; no error of the cloud's is tried again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from heatconv.resources import attributes, exception, properties, resource
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff
from heatconv.testing.cloud import CloudApi, Json, ObjectStatus
from heatconv.testing.cloud_client import connect
from heatconv.testing.failures import Refused


def cloud() -> CloudApi:
    """Return the cloud that the environment names."""
    return connect(os.environ.get("HEATCONV_FAKE_CLOUD", "memory:"))


class Ported(resource.Resource):
    """An object of the cloud, as somebody wrote it for Heat."""

    PROPERTIES = (VALUE, FLAVOR, USES, WAIT) = ("value", "flavor", "uses", "wait")

    properties_schema = {
        VALUE: properties.Schema(
            properties.Schema.STRING, "A text, changed in place.", default="", update_allowed=True
        ),
        FLAVOR: properties.Schema(
            properties.Schema.STRING, "A text that only a replacement changes.", default="small"
        ),
        USES: properties.Schema(
            properties.Schema.LIST,
            "The ids of the objects this one refers to.",
            default=[],
            update_allowed=True,
        ),
        WAIT: properties.Schema(
            properties.Schema.NUMBER, "The seconds that each operation takes.", update_allowed=True
        ),
    }
    attributes_schema = {VALUE: attributes.Schema("The value.", type=attributes.Schema.STRING)}

    def handle_create(self) -> Json:
        wanted = {key: self.properties[key] for key in (self.VALUE, self.FLAVOR, self.USES)}
        made = cloud().create(
            str(self.physical_resource_name()),
            self.type(),
            f"{self.stack.name}/{self.name}",
            wanted,
            wait=self.properties[self.WAIT],
        )
        self.resource_id_set(made["id"])
        return {"id": made["id"]}

    def check_create_complete(self, token: Json) -> bool:
        return _is_active(token["id"])

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: ResourceDefinitionDiff,
        prop_diff: Mapping[str, Any],
    ) -> Json:
        changed = {key: value for key, value in prop_diff.items() if key != self.WAIT}
        if changed:
            cloud().update(str(self.resource_id), changed, wait=self.properties[self.WAIT])
        return {"id": self.resource_id}

    def check_update_complete(self, token: Json) -> bool:
        return _is_active(token["id"])

    def handle_delete(self) -> Json | None:
        if self.resource_id is None:
            return None
        try:
            cloud().delete(self.resource_id, wait=self.properties[self.WAIT])
        except Refused as refusal:
            if refusal.status == 404:
                return None
            raise
        return {"id": self.resource_id}

    def check_delete_complete(self, token: Json | None) -> bool:
        if token is None:
            return True
        try:
            cloud().show(token["id"])
        except Refused as refusal:
            return refusal.status == 404
        return False

    def handle_check(self) -> None:
        found = cloud().show(str(self.resource_id))
        self._verify_check_conditions(
            [{"attr": "status", "expected": ObjectStatus.ACTIVE, "current": found["status"]}]
        )

    def _resolve_attribute(self, name: str) -> Any:
        return cloud().show(str(self.resource_id))["properties"].get(name)


class Cancelled(Ported):
    """One that can be told that nobody waits for it any more; the cloud is told by a look at the object."""

    def handle_create_cancel(self, token: Json) -> None:
        """Look once more."""
        cloud().show(token["id"])

    def handle_delete_cancel(self, token: Json) -> None:
        """Look once more."""
        cloud().show(token["id"])


def _is_active(object_id: str) -> bool:
    found = cloud().show(object_id)
    if found["status"] == ObjectStatus.ERROR:
        raise exception.ResourceInError(resource_status=found["status"], status_reason="it broke")
    return bool(found["status"] == ObjectStatus.ACTIVE)


def resource_mapping() -> Mapping[str, type[Ported]]:
    """Return the resource types by name."""
    return {"Fake::Cloud::Ported": Ported, "Fake::Cloud::Cancelled": Cancelled}
