# SPDX-License-Identifier: Apache-2.0
"""Resource types of the fake cloud; this folder can be one of ``plugin_dirs``.

The cloud's address is in the environment variable ``HEATCONV_FAKE_CLOUD``:
``http://...``, or ``memory:`` for the cloud of the same process.

Each hook decides by what it finds in the cloud, not by what it did before, so
that a hook repeated after a crash does nothing twice.  A cloud that is busy or
cannot be reached is asked again for as long as the stack has time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

from heatconv.resources import attributes, exception, properties, resource
from heatconv.resources.declared import implements
from heatconv.resources.rsrc_defn import ResourceDefinition, ResourceDefinitionDiff
from heatconv.testing.cloud import CloudApi, Json, ObjectStatus
from heatconv.testing.cloud_client import connect
from heatconv.testing.failures import Refused, Unreachable
from heatconv.testing.templates import SNAPSHOT

ADDRESS = "HEATCONV_FAKE_CLOUD"


def cloud() -> CloudApi:
    """Return the cloud that the environment names."""
    return connect(os.environ.get(ADDRESS, "memory:"))


class Opaque(resource.Resource):
    """An object of the cloud, made, changed and deleted asynchronously.

    It cannot be searched: what a lost answer left behind is not found again.
    """

    PROPERTIES = (VALUE, FLAVOR, USES, TAGS, WAIT) = ("value", "flavor", "uses", "tags", "wait")
    ATTRIBUTES = (VALUE_ATTR, NAME_ATTR, ID_ATTR) = ("value", "name", "id")

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
        TAGS: properties.Schema(
            properties.Schema.LIST, "Labels; the cloud itself sticks none on.", update_allowed=True
        ),
        WAIT: properties.Schema(
            properties.Schema.NUMBER, "The seconds that each operation takes.", update_allowed=True
        ),
    }
    attributes_schema = {
        VALUE_ATTR: attributes.Schema("The value.", type=attributes.Schema.STRING),
        NAME_ATTR: attributes.Schema("The object's name.", type=attributes.Schema.STRING),
        ID_ATTR: attributes.Schema("The object's id.", type=attributes.Schema.STRING),
    }

    goes_by_what_it_finds = True
    given_only = (TAGS,)
    notifications = ("object.delete.end", "object.update.end", "object.error")

    # -- create ------------------------------------------------------------------------

    def handle_create(self) -> Json:
        return self._try_to_create()

    def check_create_complete(self, token: Json | None) -> bool:
        if self.resource_id is None:
            existing = self.find_existing()
            if existing is None:
                self._recreate(token or {})
                return False
            self.resource_id_set(existing)
        return self._is_active()

    def _recreate(self, token: Json) -> None:
        if token.get("lost") and not implements(type(self), "find_existing"):
            raise exception.Error(f"Nobody knows whether {self.name} was made; remove it by hand if it was.")
        token.update(self._try_to_create(again=True))

    def _try_to_create(self, *, again: bool = False) -> Json:
        wanted = {key: self.properties[key] for key in (self.VALUE, self.FLAVOR, self.USES)}
        if self.properties[self.TAGS] is not None:
            wanted[self.TAGS] = self.properties[self.TAGS]
        try:
            made = cloud().create(
                str(self.physical_resource_name()),
                self.type(),
                f"{self.stack.name}/{self.name}",
                wanted | self._extras(),
                wait=self.properties[self.WAIT],
            )
        except (Refused, Unreachable) as problem:
            _pass_if_transient(problem, delay=again)
            return {"lost": isinstance(problem, Unreachable)}
        self.resource_id_set(made["id"])
        return {"lost": False}

    def _extras(self) -> Json:
        """Return what an object has beyond its template's properties."""
        return {}

    # -- update ------------------------------------------------------------------------

    def needs_replace_failed(self) -> bool:
        if self.resource_id is None:
            return True
        try:
            return cloud().show(self.resource_id)["status"] == ObjectStatus.ERROR
        except Refused as refusal:
            return refusal.status == 404

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: ResourceDefinitionDiff,
        prop_diff: Mapping[str, Any],
    ) -> Json:
        wanted = {key: value for key, value in prop_diff.items() if key != self.WAIT}
        if self.USES in wanted:
            wanted[self.USES] = wanted[self.USES] or []
        token = {"wanted": wanted, "wait": prop_diff.get(self.WAIT, self.properties[self.WAIT])}
        if wanted:
            self._try_to_update(token)
        return token

    def check_update_complete(self, token: Json) -> bool:
        present = cloud().show(str(self.resource_id))["properties"]
        if any(present.get(key) != value for key, value in token["wanted"].items()):
            self._try_to_update(token, again=True)
            return False
        return self._is_active()

    def _try_to_update(self, token: Json, *, again: bool = False) -> None:
        try:
            cloud().update(str(self.resource_id), token["wanted"], wait=token["wait"])
        except (Refused, Unreachable) as problem:
            _pass_if_transient(problem, delay=again)

    # -- delete ------------------------------------------------------------------------

    def handle_delete(self) -> Json | None:
        if self.resource_id is None:
            return None
        self._try_to_delete(self.resource_id)
        return {"deleting": self.resource_id}

    def check_delete_complete(self, token: Json | None) -> bool:
        if token is None:
            return True
        try:
            status = cloud().show(token["deleting"])["status"]
        except Refused as refusal:
            if refusal.status == 404:
                return True
            raise
        if status != ObjectStatus.DELETING:
            self._try_to_delete(token["deleting"], again=True)
        return False

    def _try_to_delete(self, made: str, *, again: bool = False) -> None:
        try:
            cloud().delete(made, wait=self.properties[self.WAIT])
        except (Refused, Unreachable) as problem:
            if not (isinstance(problem, Refused) and problem.status == 404):
                _pass_if_transient(problem, delay=again)

    # -- suspend, resume ---------------------------------------------------------------

    def handle_suspend(self) -> Json:
        return self._flag(suspended=True)

    def check_suspend_complete(self, token: Json) -> bool:
        return self.check_update_complete(token)

    def handle_resume(self) -> Json:
        return self._flag(suspended=False)

    def check_resume_complete(self, token: Json) -> bool:
        return self.check_update_complete(token)

    def _flag(self, *, suspended: bool) -> Json:
        token = {"wanted": {"suspended": suspended}, "wait": self.properties[self.WAIT]}
        self._try_to_update(token)
        return token

    # -- adopt -------------------------------------------------------------------------

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        if resource_data.get("resource_id"):
            cloud().show(resource_data["resource_id"])  # an object that is not there is not adopted
        super().handle_adopt(resource_data)

    def check_adopt_complete(self, token: None) -> bool:
        return self._is_active()

    # -- what is there --------------------------------------------------------------------

    def _is_active(self) -> bool:
        found = cloud().show(str(self.resource_id))
        if found["status"] == ObjectStatus.ERROR:
            raise exception.ResourceInError(
                resource_status=found["status"], status_reason="the cloud could not do it"
            )
        return bool(found["status"] == ObjectStatus.ACTIVE)

    def handle_check(self) -> None:
        found = cloud().show(str(self.resource_id))
        self._verify_check_conditions(
            [{"attr": "status", "expected": ObjectStatus.ACTIVE, "current": found["status"]}]
        )

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == self.ID_ATTR:
            return self.resource_id
        found = cloud().show(self.resource_id)
        return found["properties"]["value"] if name == self.VALUE_ATTR else found["name"]

    def foresee_attribute(self, name: str) -> Any:
        if name == self.VALUE_ATTR:
            return self.properties[self.VALUE]
        if self.resource_id is None:
            return super().foresee_attribute(name)
        return self.resource_id if name == self.ID_ATTR else self.physical_resource_name()

    def get_live_resource_data(self) -> Json:
        try:
            return cloud().show(str(self.resource_id))
        except Refused as refusal:
            if refusal.status == 404:
                raise exception.EntityNotFound(entity="Object", name=self.name) from refusal
            raise

    def parse_live_resource_data(
        self, resource_properties: properties.Properties, resource_data: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        observed = (self.VALUE, self.FLAVOR, self.USES, self.TAGS)
        return {key: resource_data["properties"].get(key) for key in observed}

    @classmethod
    def observe_many(
        cls, resources: Sequence[Self]
    ) -> Mapping[str, Mapping[str, Any] | exception.ResourceInError | None]:
        live = {
            found["id"]: found for found in cloud().show_many([str(each.resource_id) for each in resources])
        }
        return {each.uuid: each.live_state(live.get(str(each.resource_id))) for each in resources}

    @classmethod
    def notified(cls, event_type: str, payload: Mapping[str, Any]) -> Sequence[str]:
        _ = event_type  # the payload of each has it under the same key
        return [payload["object_id"]]

    def live_state(self, found: Json | None) -> Mapping[str, Any] | exception.ResourceInError | None:
        """Return the live properties in the cloud's answer, a fault, or None if there is no object."""
        if found is None:
            return None
        return self.live_fault(found) or self.parse_live_resource_data(self.properties, found)


class Server(Opaque):
    """An object that an interrupted creation finds again by its name, and that can be copied.

    A snapshot is an object of its own, with a copy of the properties that a
    restore brings back.
    """

    SNAPSHOT_NOTE = "snapshot_id"

    def find_existing(self) -> str | None:
        return _find(str(self.physical_resource_name()), self.type())

    def find_named(self) -> list[tuple[str, str]]:
        return [(each["id"], each["name"]) for each in cloud().owned() if each["kind"] == self.type()]

    # -- snapshot, restore -------------------------------------------------------------

    def handle_snapshot(self) -> Json:
        # Named after the one before, so that a repetition finds the snapshot that was made already.
        name = f"{self.physical_resource_name()}-after-{self.data().get(self.SNAPSHOT_NOTE, 'none')}"
        present = cloud().show(str(self.resource_id))["properties"]
        copied = {key: present.get(key) for key in (self.VALUE, self.FLAVOR)}
        token = {"name": name, "copied": copied}
        self._try_to_copy(token)
        return token

    def check_snapshot_complete(self, token: Json) -> bool:
        copy = self._copied(token)
        if copy is None:
            return False
        self.data_set(self.SNAPSHOT_NOTE, copy)
        return True

    def _copied(self, token: Json) -> str | None:
        """Return the id of the snapshot once that is there."""
        copy = _find(token["name"], SNAPSHOT)
        if copy is None:
            self._try_to_copy(token, again=True)
            return None
        return copy if cloud().show(copy)["status"] == ObjectStatus.ACTIVE else None

    def _try_to_copy(self, token: Json, *, again: bool = False) -> None:
        if _find(token["name"], SNAPSHOT) is not None:
            return
        owner = f"{self.stack.name}/{self.name}"
        try:
            cloud().create(token["name"], SNAPSHOT, owner, token["copied"], wait=self.properties[self.WAIT])
        except (Refused, Unreachable) as problem:
            _pass_if_transient(problem, delay=again)

    def handle_snapshot_delete(self, state: tuple[str, str]) -> Json | None:
        try:
            return None if self.resource_id is None else self.handle_snapshot()
        except Refused as refusal:
            if refusal.status == 404:
                return None  # nothing is there that could be copied
            raise

    def check_delete_complete(self, token: Json | None) -> bool:
        if token is None or "copied" not in token:
            return super().check_delete_complete(token)
        if "deleting" not in token:
            if self._copied(token) is not None:
                token["deleting"] = self.resource_id
                self._try_to_delete(token["deleting"])
            return False
        return super().check_delete_complete({"deleting": token["deleting"]})

    def handle_delete_snapshot(self, snapshot: Mapping[str, Any]) -> Json | None:
        copy = (snapshot.get("resource_data") or {}).get(self.SNAPSHOT_NOTE)
        if copy is None:
            return None
        self._try_to_delete(copy)
        return {"deleting": copy}

    def check_delete_snapshot_complete(self, token: Json | None) -> bool:
        return self.check_delete_complete(token)

    def handle_restore(self, defn: ResourceDefinition, restore_data: Mapping[str, Any]) -> ResourceDefinition:
        copy = (restore_data.get("resource_data") or {}).get(self.SNAPSHOT_NOTE)
        if copy is None:
            return defn
        copied = cloud().show(copy)["properties"]
        return defn.freeze(properties={**defn.definition.properties, **copied})


class Unforeseen(Server):
    """An object of whose attributes nobody knows before what they will be."""

    def foresee_attribute(self, name: str) -> Any:
        return resource.Resource.foresee_attribute(self, name)


class Steps(Server):
    """An object that is made in several steps; the token names the one under way."""

    STAGES = ("reserved", "attached", "started")

    def _extras(self) -> Json:
        return {"stage": self.STAGES[0]}

    def check_create_complete(self, token: Json | None) -> bool:
        if not super().check_create_complete(token):
            return False
        stage = cloud().show(str(self.resource_id))["properties"]["stage"]
        if stage == self.STAGES[-1]:
            return True
        step = self.STAGES[self.STAGES.index(stage) + 1]
        if token is not None:
            token["step"] = step
        self._try_to_update({"wanted": {"stage": step}, "wait": self.properties[self.WAIT]}, again=True)
        return False


def _find(name: str, kind: str) -> str | None:
    """Return the id of the object of a name."""
    found = cloud().find(name, kind)
    return str(found[0]["id"]) if found else None


def _pass_if_transient(problem: Refused | Unreachable, *, delay: bool) -> None:
    """Return if the operation is to be tried again; with ``delay``, raise PollDelay if it says when."""
    if isinstance(problem, Unreachable):
        return
    if problem.status not in (429, 503):
        raise problem
    if delay and problem.retry_after is not None:
        raise exception.PollDelay(problem.retry_after)


class Disk(Server):
    """An object that holds data."""

    holds_data = True


def resource_mapping() -> Mapping[str, type[Opaque]]:
    """Return the resource types by name."""
    return {
        "Fake::Cloud::Server": Server,
        "Fake::Cloud::Steps": Steps,
        "Fake::Cloud::Opaque": Opaque,
        "Fake::Cloud::Disk": Disk,
        "Fake::Cloud::Unforeseen": Unforeseen,
    }
